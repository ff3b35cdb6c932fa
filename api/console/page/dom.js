// SPDX-License-Identifier: Apache-2.0
// Makes elements. All texts of jobs become text nodes, never markup.

// el("a", {class: "x", href: "y", on: {click}}, "text", child…); values that are null or false are left out.
export function el(tag, attributes = {}, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (name === "on")
			for (const [event, handler] of Object.entries(value))
				node.addEventListener(event, handler);
		else if (value !== null && value !== undefined && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
	return node;
}

const nameOf = (each) => `${each.tagName} ${each.getAttribute("href") ?? ""} ${each.dataset.key ?? each.getAttribute("aria-label") ?? each.textContent}`;

// Changes the contents of an element. If the focused element is replaced by an equal one, that one gets the focus.
function changed(node, change) {
	const focused = document.activeElement, name = node !== focused && node.contains(focused) && nameOf(focused), now = change();

	if (name)
		[...now.querySelectorAll("a, button, summary, [tabindex]")].find((each) => nameOf(each) === name)?.focus({preventScroll: true});
	return now;
}

// Replaces one element by another, unless they look the same, so that a click in progress is not lost. Returns the
// element that is shown.
export function swap(old, fresh) {
	return old.isEqualNode(fresh) ? old : changed(old, () => { old.replaceWith(fresh); return fresh; });
}

// Gives a node these children, unless its present ones look the same.
export function refill(node, ...children) {
	const fresh = fill(node.cloneNode(false), {}, children);

	if (!fresh.isEqualNode(node))
		changed(node, () => { node.replaceChildren(...fresh.childNodes); return node; });
}

// Keeps what is chosen on a page in its address, so that a link or "back" shows the same. Empty words are left out.
export function keepInAddress(chosen) {
	const query = new URLSearchParams(location.search);

	for (const [name, word] of Object.entries(chosen))
		word ? query.set(name, word) : query.delete(name);
	const search = query.size ? `?${query}` : "";
	if (location.search !== search) // a change takes long
		history.replaceState(null, "", location.pathname + search + location.hash);
}

// Shows a note in the corner for some seconds.
export function note(text, bad = false) {
	const shown = el("div", {class: bad ? "note bad" : "note"}, text);

	document.getElementById("notes").append(shown);
	setTimeout(() => shown.remove(), bad ? 12000 : 4000);
}

export function copyButton(text) {
	return el("button", {title: text.split("\n")[0], on: {click: () => navigator.clipboard.writeText(text).then(() => note("Copied"), (problem) => note(problem.message, true))}}, "Copy");
}

// Asks before an action that cannot be undone. Resolves to whether the user agreed.
export function confirmed(question, action) {
	return new Promise((resolve) => {
		const dialog = el("dialog", {"aria-label": question, on: {close: () => { resolve(dialog.returnValue === "yes"); dialog.remove(); }}},
			el("p", {}, question),
			el("div", {class: "row"},
				el("button", {on: {click: () => dialog.close("no")}}, "Leave it"),
				el("button", {class: "danger", on: {click: () => dialog.close("yes")}}, action)));

		document.body.append(dialog);
		dialog.showModal();
	});
}

// Names and values, without those that are empty.
export function facts(pairs) {
	return el("dl", {class: "facts"}, pairs.filter(([, value]) => value !== undefined && value !== "" && value !== null)
		.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

// A bar for the progress of pulling an image, from the API's imagePull.
export function pullBar({image, bytesDone, bytesTotal}) {
	const done = Number(bytesDone ?? 0), all = Number(bytesTotal ?? 0);

	return el("span", {class: "pull", title: image}, el("progress", {"aria-label": `Pull of ${image}`, ...(all && {max: all, value: done})}),
		!all ? " begins" : done < all ? ` ${Math.floor(100 * done / all)} % of ${bytes(all)}` : ` ${bytes(all)}, being unpacked`);
}

export function stateMark(state) {
	return el("span", {class: `state ${state}`}, state[0] + state.slice(1).toLowerCase());
}

// "7s", "3m 12s", "2h 05m", "3d 4h"
export function duration(ms) {
	const s = Math.max(0, Math.round(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);

	if (s < 60)
		return `${s}s`;
	if (m < 60)
		return `${m}m ${String(s % 60).padStart(2, "0")}s`;
	return h < 24 ? `${h}h ${String(m % 60).padStart(2, "0")}m` : `${d}d ${h % 24}h`;
}

// "12s ago", "3m ago". Older times are updated less often.
export function ago(time, now) {
	return time ? `${duration(now - Date.parse(time)).split(" ")[0]} ago` : "";
}

export function localTime(time) {
	return time ? new Date(time).toLocaleString() : "";
}

// "1 job", "2 jobs"
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

export function bytes(count) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;

	for (count = Number(count); count >= 1024 && unit < units.length - 1; count /= 1024)
		unit++;
	return `${unit && count < 10 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}
