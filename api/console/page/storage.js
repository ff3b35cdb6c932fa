// SPDX-License-Identifier: Apache-2.0
// The page of buckets and their objects, as folders.
import {get, send} from "./api.js";
import {ago, bytes, confirmed, copyButton, counted, el, localTime, note} from "./dom.js";
import {every} from "./stream.js";
import {searchField, Table} from "./table.js";

const LOOK_MS = 3000, PAGE = 1000, LOOK_BYTES = 256 * 1024, ROWS_MOST = 500, COLUMNS_MOST = 50; // of an object at most so much is shown
const PICTURES = {png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp"};
const API = "/storage/v1/b";

const FIRST = "trainyard cp -r data gs://my-bucket/", TOP = "/_trainyard/console/";
export const storageAddress = (bucket, prefix = "") => `${TOP}storage?${new URLSearchParams({bucket, prefix})}`;
const objectPath = (bucket, name) => `${API}/${encodeURIComponent(bucket)}/o/${encodeURIComponent(name)}`;

function dataAddress(blob) {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();

		reader.onload = () => resolve(reader.result);
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(blob);
	});
}

// The rows of a text with comma-separated values. Source: https://www.rfc-editor.org/rfc/rfc4180 (read 2026-11-28)
function cells(text) {
	const rows = [[]];

	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n?|\n|$)/g)) {
		rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
		if (!end)
			break;
		if (end !== ",")
			rows.push([]);
	}
	return rows.filter((row) => row.length > 1 || row[0]);
}

function cellsTable([names = [], ...rows]) {
	const more = rows.length - ROWS_MOST, told = (row, tag, more = {}) => el("tr", {}, row.slice(0, COLUMNS_MOST).map((cell) => el(tag, more, cell)));

	return el("div", {class: "scrolls", role: "region", "aria-label": "Rows"}, el("table", {class: "plain look"}, told(names, "th", {scope: "col"}), rows.slice(0, ROWS_MOST).map((row) => told(row, "td"))),
		more > 0 && el("p", {class: "soft"}, `and ${more} more rows`));
}

// The beginning of an object: as text, as indented JSON if it is complete, as a table of comma-separated values, or as
// an image.
async function shown(bucket, name, size) {
	const type = PICTURES[name.split(".").pop().toLowerCase()], path = `${objectPath(bucket, name)}?alt=media`;

	if (type && size < 16 * LOOK_BYTES)
		return el("img", {class: "look", alt: name, src: await dataAddress(new Blob([await (await send("GET", path)).arrayBuffer()], {type}))});
	const data = size ? await (await send("GET", path, undefined, undefined, {Range: `bytes=0-${LOOK_BYTES - 1}`})).arrayBuffer() : new ArrayBuffer(0);
	const text = new TextDecoder().decode(data), laid = () => JSON.stringify(JSON.parse(text), null, 2);

	if (text.includes("\0"))
		return el("p", {class: "soft"}, "It is no text.");
	try {
		return name.endsWith(".csv") ? cellsTable(cells(text)) : el("pre", {}, name.endsWith(".json") ? laid() : text);
	} catch {
		return el("pre", {}, text);
	}
}

// The projects whose buckets are listed: those with jobs, and the daemon's own, unless the daemon was started with
// another one.
async function projects() {
	return new Set(["local-project", ...((await get(`/_trainyard/v1/jobs?pageSize=${PAGE}`)).jobs ?? []).map((job) => job.project)]);
}

export function storagePage(main, {go, title}) {
	const address = new URLSearchParams(location.search), bucket = address.get("bucket") ?? "", prefix = address.get("prefix") ?? "", object = address.get("object");
	const count = el("span", {class: "soft small", role: "status"}), empty = el("div", {class: "card empty", hidden: true}), look = el("div", {class: "card", hidden: true});
	const path = el("h1", {}, el("a", {href: "/_trainyard/console/storage"}, "gs://"), bucket && [el("a", {href: storageAddress(bucket)}, bucket), "/"],
		prefix.split("/").slice(0, -1).map((name, i, all) => [el("a", {href: storageAddress(bucket, `${all.slice(0, i + 1).join("/")}/`)}, name), "/"]));
	const file = el("input", {type: "file", multiple: true, hidden: true, "aria-label": "Files to upload", on: {change: () => act(upload, "Uploaded")}});
	const search = searchField(bucket ? "Search these objects" : "Search buckets", () => show());
	let rows = [], opened = null, text = "";

	async function act(what, done) {
		try {
			await what();
			if (done)
				note(done);
			await list();
		} catch (problem) {
			note(problem.message, true);
		}
	}

	async function upload() {
		for (const each of file.files)
			await send("POST", `/upload${API}/${encodeURIComponent(bucket)}/o?${new URLSearchParams({uploadType: "media", name: prefix + each.name})}`, each);
		file.value = "";
	}

	async function download(row) {
		const link = el("a", {href: URL.createObjectURL(await (await send("GET", `${objectPath(bucket, row.name)}?alt=media`)).blob()), download: row.short});

		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	}

	async function remove(row) {
		if (await confirmed(`Delete gs://${bucket}/${row.name}?`, "Delete"))
			await act(() => send("DELETE", objectPath(bucket, row.name)).then(() => go(storageAddress(bucket, prefix).slice(TOP.length))), `${row.short} is deleted`);
	}

	async function open(row) {
		opened = row.id;
		const content = await shown(bucket, row.name, row.bytes);
		if (opened !== row.id)
			return;
		look.replaceChildren(el("div", {class: "row"}, el("h2", {}, row.short), el("span", {class: "soft small"}, row.bytes > LOOK_BYTES ? `the first ${bytes(LOOK_BYTES)} of ${bytes(row.bytes)}` : bytes(row.bytes)),
			el("div", {class: "row last"}, el("button", {on: {click: () => act(() => download(row))}}, "Download"), el("button", {class: "danger", on: {click: () => remove(row)}}, "Delete"))), content);
		look.hidden = false;
	}

	const table = new Table([
		{title: "Name", key: "name", width: "minmax(120px, 4fr)", sort: (row) => (row.name ? `1${row.short}` : `0${row.short}`),
			cell: (row) => el("a", {href: row.link}, row.short)},
		{title: "Size", key: "size", width: "88px", number: true, cell: (row) => (row.bytes === undefined ? "" : bytes(row.bytes)), sort: (row) => row.bytes ?? -1},
		{title: "Type", key: "type", width: "minmax(80px, 1fr)", class: "wide soft", cell: (row) => row.type ?? "", sort: (row) => row.type ?? ""},
		{title: "Written", key: "written", width: "104px", class: "middle", number: true, cell: (row) => (row.time ? el("span", {title: localTime(row.time)}, ago(row.time, Date.now())) : ""), sort: (row) => Date.parse(row.time ?? "") || 0},
	], {label: bucket ? "Objects" : "Buckets", sorted: {key: "name", down: false}, open: (row) => go(row.link.slice(TOP.length))});

	async function all(place, words) {
		const items = [], prefixes = [];
		let pageToken = "";

		do {
			const page = await get(`${place}?${new URLSearchParams({...words, maxResults: PAGE, ...(pageToken && {pageToken})})}`);

			items.push(...page.items ?? []);
			prefixes.push(...page.prefixes ?? []);
			pageToken = page.nextPageToken ?? "";
		} while (pageToken);
		return {items, prefixes};
	}

	function show() {
		const matches = search.matcher(), seen = rows.filter((row) => matches(row.short.toLowerCase()));

		count.textContent = (seen.length === rows.length ? "" : `${seen.length} of `) + counted(rows.length, bucket ? "name" : "bucket");
		table.set(seen);
	}

	async function list() {
		if (bucket) {
			const {items, prefixes} = await all(`${API}/${encodeURIComponent(bucket)}/o`, {prefix, delimiter: "/"});

			rows = [...prefixes.map((name) => ({id: name, short: name.slice(prefix.length), link: storageAddress(bucket, name)})),
				...items.filter((item) => item.name !== prefix).map((item) => ({id: item.name, name: item.name, link: `${storageAddress(bucket, prefix)}&${new URLSearchParams({object: item.name})}`, short: item.name.slice(prefix.length), bytes: Number(item.size), type: item.contentType, time: item.updated}))];
		} else {
			const listed = await Promise.all([...await projects()].map((project) => all(API, {project})));

			rows = listed.flatMap(({items}) => items).map((item) => ({id: item.name, short: item.name, link: storageAddress(item.name), time: item.timeCreated}));
		}
		empty.hidden = rows.length > 0;
		table.node.hidden = search.node.hidden = !rows.length;
		if (!rows.length)
			empty.replaceChildren(el("p", {}, bucket ? "There is nothing here." : "There is no bucket yet. One is made when something is written to it:"), bucket ? "" : el("div", {class: "command"}, el("pre", {}, FIRST), copyButton(FIRST)));
		const now = JSON.stringify(rows);
		if (now !== text)
			show();
		text = now;
		const wanted = opened === null && object && rows.find((row) => row.name === object);
		if (wanted)
			await open(wanted);
		else if (opened === null && object) {
			opened = object;
			note(`There is no object ${object}`, true);
		}
	}

	title(bucket ? `gs://${bucket}/${prefix}` : "Storage");
	main.replaceChildren(el("div", {class: "row"}, path, el("span", {class: "grow"}), count, search.node, bucket && el("button", {on: {click: () => file.click()}}, "Upload"), file), empty, table.node, look);
	const stop = every(LOOK_MS, () => list().catch((problem) => note(problem.message, true)));

	return {close: () => { stop(); table.close(); }, keys: {...search.keys, j: () => table.move(1), k: () => table.move(-1), Enter: () => table.choose()}};
}
