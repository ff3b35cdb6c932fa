// SPDX-License-Identifier: Apache-2.0
// The page that a daemon with a token shows to a browser without a session.
import {refusal, signIn} from "./api.js";
import {el} from "./dom.js";

// done: called when the daemon has accepted the token.
export function signInPage(main, {title, done}) {
	const token = el("input", {type: "password", name: "token", autocomplete: "current-password", required: true, size: 40});
	const problem = el("p", {class: "bad", role: "alert"}, refusal);
	const form = el("form", {class: "row", on: {submit: async (event) => {
		event.preventDefault();
		try {
			await signIn(token.value.trim());
		} catch (failed) {
			problem.textContent = failed.status === 401 ? "The daemon does not accept this token. Its own is in the file that --token-file names." : failed.message;
			return;
		}
		done();
	}}}, el("input", {type: "text", name: "username", value: "trainyard", autocomplete: "username", "aria-label": "User", hidden: true}), el("label", {}, "Token ", token), el("button", {}, "Sign in"));

	title("Sign in");
	main.replaceChildren(el("div", {class: "card empty"}, el("h1", {}, "This daemon asks for a token"), problem,
		el("p", {}, "This command opens the console with it:"), el("pre", {}, "trainyard ui"), el("p", {class: "soft"}, "Or give the token here:"), form));
	return {close: () => {}, keys: {}};
}
