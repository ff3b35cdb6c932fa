// SPDX-License-Identifier: Apache-2.0
// Converts a line with terminal control sequences: colours become classes, all other sequences are removed. Pure.

// [{text, classes}] for a line. Of "10%\r20%", only the text after the last \r is shown, as on a terminal.
export function parts(line) {
	const end = line.replace(/\r+$/, ""), seen = end.slice(end.lastIndexOf("\r") + 1);
	const made = [];
	let classes = [], rest = seen;

	while (rest) {
		const found = /\x1b(?:\[([0-9;?]*)([ -/]*[@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[^[\]]?)/.exec(rest);
		const text = found ? rest.slice(0, found.index) : rest;

		if (text)
			made.push({text: text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "").replace(/\t/g, "    "), classes});
		if (!found)
			break;
		if (found[2] === "m")
			classes = styled(classes, found[1]);
		rest = rest.slice(found.index + found[0].length);
	}
	return made;
}

function styled(classes, codes) {
	for (const code of (codes || "0").split(";").map(Number)) {
		if (code === 0)
			classes = [];
		else if ([1, 3, 4].includes(code))
			classes = [...classes, `a${code}`];
		else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
			classes = [...classes.filter((each) => each[0] !== "f"), `f${code % 10}`];
		else if (code === 39)
			classes = classes.filter((each) => each[0] !== "f");
		else if (code === 38 || code === 48)
			break; // colours of 256 and more are left out, with their numbers
	}
	return classes;
}

const CONTROLS = /[\x00-\x1f\x7f-\x9f]/;
export const plain = (line) => (CONTROLS.test(line) ? parts(line).map((part) => part.text).join("") : line);
