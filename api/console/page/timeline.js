// SPDX-License-Identifier: Apache-2.0
// The history of a job and its replicas, as bars over time.
import {wasStopped} from "./cluster.js";
import {duration, el, refill, svg} from "./dom.js";
import {whenWidthChanges} from "./plots.js";

const LANE = 24, BAR = 12, LEFT = 140, RIGHT = 16, TOP = 24, LANES_MOST = 40, ZOOM_PIXELS = 8, CLOCK = 88; // pixels; CLOCK: the room of a time of day
const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];

const MEANINGS = {QUEUED: "waits", PREPARING: "is prepared", RUNNING: "runs", SUCCEEDED: "ended well", FAILED: "failed", CANCELLING: "is cancelled", CANCELLED: "stopped"};

// Spans {from, to, what, text} of the job and of each replica; to: null: not ended.
function spansOf(job, told) {
	const lanes = [{name: "job", spans: [], marks: []}], byName = new Map();
	const at = (event) => Date.parse(event.time);

	for (const {replica} of (told.replicas ?? []).slice(0, LANES_MOST)) {
		const lane = {name: replica, spans: [], marks: []};

		lanes.push(lane);
		byName.set(replica, lane);
	}
	const last = (lane) => lane.spans.at(-1);
	const begin = (lane, time, what, text) => lane.spans.push({from: time, to: null, what, text});
	const end = (lane, time) => { if (last(lane) && last(lane).to === null) last(lane).to = time; };

	for (const event of told.events ?? []) {
		const lane = byName.get(event.replica);

		if (event.kind === "STATE") {
			end(lanes[0], at(event));
			if (!["SUCCEEDED", "FAILED", "CANCELLED"].includes(event.state))
				begin(lanes[0], at(event), event.state, event.text);
			for (const each of byName.values()) {
				if (event.state === "RUNNING" && !each.ended && (!last(each) || last(each).to !== null))
					begin(each, at(event), "RUNNING", `${each.name} runs`);
				else if (event.state !== "RUNNING")
					end(each, at(event));
			}
		} else if (event.kind === "REPLICA_ENDED" && lane) {
			if (!last(lane) || last(lane).to !== null) // it has ended before all ran
				begin(lane, last(lanes[0])?.from ?? at(event), "RUNNING", event.text);
			end(lane, at(event));
			const what = wasStopped(event, told) ? "CANCELLED" : event.end === "EXIT" && !event.exitCode ? "SUCCEEDED" : "FAILED";

			Object.assign(last(lane), {what, text: event.text});
			lane.ended = true;
			lane.marks.push({at: at(event), what, text: event.text});
		} else if (event.kind === "REPLICA_RESTARTED" && lane) {
			lane.ended = false;
			begin(lane, at(event), "RUNNING", event.text);
		} else if (event.kind === "RETRIED") {
			for (const each of byName.values())
				each.ended = false;
		}
	}
	return lanes;
}

export class Timeline {
	constructor() {
		this.plot = svg("svg", {class: "plot zooms", role: "img", tabindex: 0, "aria-label": "What happened when; plus and minus zoom, the arrows move, 0 shows all", on: {
			pointerdown: (event) => this.#drag(event), dblclick: () => this.#zoom(null), keydown: (event) => this.#key(event)}});
		this.rest = el("div", {class: "soft small", hidden: true});
		this.legend = el("ul", {class: "legend wraps"});
		this.node = el("div", {}, this.plot, this.rest, this.legend);
		this.all = this.seen = [0, 0]; // first and last time of the job, and of what is seen, in ms
		this.part = null; // [from, to] in ms: what of the time is seen; null: all
		this.close = whenWidthChanges(this.plot, (width) => this.#draw(width));
	}

	set(job, told) {
		this.job = job;
		this.told = told;
		this.#draw();
	}

	#zoom(part) {
		this.part = part;
		this.#draw();
	}

	// Dragging along the time axis zooms in; a double click shows all again.
	#drag(event) {
		const pixel = (each) => each.clientX - this.plot.getBoundingClientRect().left, begun = pixel(event);

		event.preventDefault();
		addEventListener("pointerup", (end) => {
			const part = [begun, pixel(end)].sort((a, b) => a - b).map((each) => this.timeAt?.(each));

			if (Math.abs(pixel(end) - begun) >= ZOOM_PIXELS && part[1] - part[0] >= 1)
				this.#zoom(part);
		}, {once: true});
	}

	// Keys zoom to the middle, and move by a quarter of the visible range.
	#key(event) {
		const [from, to] = this.seen, [first, last] = this.all, span = to - from;
		const at = (begin, length) => [Math.max(first, Math.min(begin, last - length)), Math.min(last, Math.max(begin, first) + length)];
		const does = {"+": () => at(from + span / 4, span / 2), "=": () => at(from + span / 4, span / 2), "-": () => at(from - span / 2, Math.min(last - first, span * 2)),
			ArrowLeft: () => at(from - span / 4, span), ArrowRight: () => at(from + span / 4, span), 0: () => this.all}[event.key];

		if (!does || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		const part = does();
		this.#zoom(part[0] <= first && part[1] >= last ? null : part);
	}

	#draw(width = this.plot.clientWidth || 600) {
		if (!this.told)
			return;
		const lanes = spansOf(this.job, this.told), left = width < 480 ? 96 : LEFT;
		const first = Date.parse(this.job.createTime), whole = [first, Math.max(first + 1000, Date.parse(this.job.endTime ?? "") || Date.now())];
		const [from, to] = this.part ?? whole;
		this.all = whole;
		this.seen = [from, to];
		const x = (time) => left + ((Math.min(to, Math.max(from, time)) - from) / (to - from)) * (width - left - RIGHT);
		const height = TOP + lanes.length * LANE + 4;
		const step = STEPS_S.find((each) => (to - from) / 1000 / each <= Math.max(3, (width - left) / 110)) ?? 604800;
		const ticks = [];

		this.timeAt = (pixel) => Math.min(to, Math.max(from, from + ((pixel - left) / (width - left - RIGHT)) * (to - from)));
		const tick = (time, words, anchor) => ticks.push(svg("line", {class: "grid", x1: x(time), x2: x(time), y1: TOP - 4, y2: height}), svg("text", {x: x(time), y: 12, "text-anchor": anchor}, words));
		tick(from, new Date(from).toLocaleTimeString(undefined, {hour12: false}), "start");
		// The other ticks are round durations since the job was created.
		for (let count = Math.ceil((from - first) / 1000 / step + 1e-9); first + count * step * 1000 <= to; count++) {
			const time = first + count * step * 1000;

			if (x(time) - left > CLOCK)
				tick(time, `+${step < 1 ? `${(count * step).toFixed(1)}s` : duration(time - first)}`, "middle");
		}
		this.plot.setAttribute("height", height);
		this.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
		this.plot.replaceChildren(...ticks, ...lanes.flatMap((lane, i) => {
			const y = TOP + i * LANE, short = lane.name.length * 7 > left - 8 ? lane.name.replace("-replica-", "-").replace("workerpool", "pool").slice(0, Math.floor(left / 7)) : lane.name;

			return [svg("text", {class: "name", x: 0, y: y + 12}, short),
				...lane.spans.filter((span) => span.from <= to && (span.to ?? to) >= from).map((span) => svg("rect", {class: `span ${span.what}`, x: x(span.from), y: y + 2, height: BAR, rx: 2,
					width: Math.max(2, x(span.to ?? to) - x(span.from))}, svg("title", {}, `${span.text}, ${duration((span.to ?? to) - span.from)}`))),
				...lane.marks.filter((mark) => mark.at >= from && mark.at <= to).map((mark) => svg("circle", {class: `mark ${mark.what}`, cx: x(mark.at), cy: y + 8, r: 4}, svg("title", {}, mark.text)))];
		}));
		refill(this.legend, Object.entries(MEANINGS).filter(([what]) => lanes.some((lane) => lane.spans.some((span) => span.what === what)))
			.map(([what, words]) => el("li", {}, el("span", {class: `swatch span ${what}`}), words)));
		const more = (this.told.replicas ?? []).length - LANES_MOST;
		this.rest.hidden = more <= 0;
		this.rest.textContent = `and ${more} more replicas`;
	}
}
