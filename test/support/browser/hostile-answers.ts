import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { PAYLOADS } from "./hostile-rows.ts";

/**
 * Answers of the service in which every text is hostile, whatever its door would have let in: a page that trusts a name because
 * the service checks it is found all the same. Each text says where it is from, so that a test knows which of them were drawn.
 */

/** Every way at once in which a text may try to be more than one: as markup, as a link, in a line, to a terminal and to a shell. */
export const HOSTILE_TEXT = `${PAYLOADS.slice(0, 3).join("")}[a](javascript:alert(1)) ' $(touch taken) \u202e\u2066\u061c\u0007\u001b]8;;https://evil.example\u0007\n\u2028`;

/** Of these a page knows every value: another one is of no service, and hides what would be drawn beside it. */
const KNOWN =
  "id status state code kind origin outcome verdict type via to on mode order source stars change finding phase part group format ended_by began_by api_client_type results_shape scopes cursor level flag short http field metrics columns error_codes unit category every grace overlap catch_up on_older".split(
    " ",
  );
/** Of these the names are as free as the values. */
const NAMED = "sampling_args env_args extra_env_kwargs info defaults".split(" ");

const script = readFileSync(new URL("infected-page.js", import.meta.url), "utf8");

/** From now on what this page paints and puts into the clipboard is kept for `seenIn`. */
export async function watchPage(page: Page): Promise<void> {
  await page.addInitScript({ content: `${script}\nwatch();` });
}

/** The same, and every text of an answer is hostile in what this page loads. */
export async function infectAnswers(page: Page, hostile = HOSTILE_TEXT): Promise<void> {
  await page.addInitScript({ content: `${script}\nwatch();\ninfect(${JSON.stringify({ hostile, known: KNOWN, named: NAMED })});` });
}

/** What a page shows. */
export interface Seen {
  /** Where the hostile texts are from that stand in it. */
  readonly places: readonly string[];
  /** What should not be: elements that are none of ours, links to elsewhere, and characters that act, each with where it stands. */
  readonly faults: readonly string[];
  readonly copied: readonly string[];
}

export const seenIn = (page: Page): Promise<Seen> => page.evaluate<Seen>("seenHere()");
