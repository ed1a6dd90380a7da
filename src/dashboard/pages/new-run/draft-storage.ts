import type { Values } from "../../design/field/given.ts";
import { DRAFTS } from "../../drafts.ts";
import { type Draft, EMPTY_DRAFT } from "./draft.ts";

/** Version of what is stored: of another one nothing is read. */
const VERSION = 1;
/** Options that may hold a secret in spite of what they are for: an address that is called, headers. */
const UNSTORED = ["heartbeat_url", "headers", "headers_from_state"];
/** A field of sampling that goes to a provider as it is. */
const PASSED_ON = ["extra_body", "extra_headers", "extra_query"];
/** What is called so may be one. */
const SECRET = /key|token|secret|passw|pwd|credential|auth|bearer|cookie/i;
/** A name within a value that is written as JSON. */
const NAME_IN_JSON = /"([^"\\]*)"\s*:/g;

/** Where a browser keeps what its tab has typed. */
export type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The draft of one way to this page: its team, and the run or the environment that it began with. */
export class DraftStorage {
  readonly #shelf: Shelf;
  readonly #key: string;
  constructor(shelf: Shelf, team: string, begun: string) {
    this.#shelf = shelf;
    this.#key = `${DRAFTS}${team}:${begun}`;
  }

  read(): Draft | null {
    try {
      const stored = JSON.parse(this.#shelf.getItem(this.#key) ?? "null") as { readonly version?: unknown; readonly draft?: Draft } | null;
      return stored?.version === VERSION && isDraft(stored.draft) ? stored.draft : null;
    } catch {
      // Not ours, or of a browser that keeps nothing.
      return null;
    }
  }

  /** Keeps it for as long as the tab is open, without what may be a secret. */
  keep(draft: Draft): void {
    const told = {
      ...draft,
      args: without(draft.args, (name) => SECRET.test(name)),
      sampling: without(draft.sampling, (name) => PASSED_ON.includes(name)),
      options: without(draft.options, (name) => UNSTORED.includes(name)),
    };
    try {
      this.#shelf.setItem(this.#key, JSON.stringify({ version: VERSION, draft: told }));
    } catch {
      // A browser that keeps nothing, or no more: the form works without.
    }
  }

  forget(): void {
    this.#shelf.removeItem(this.#key);
  }
}

const without = (values: Values, isLeftOut: (name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([name, { text }]) => !isLeftOut(name) && !namesSecret(text)));

const namesSecret = (text: string): boolean => [...text.matchAll(NAME_IN_JSON)].some(([, name = ""]) => SECRET.test(name));

const isDraft = (value: unknown): value is Draft =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(EMPTY_DRAFT).every((name) => typeof (value as Record<string, unknown>)[name] === typeof EMPTY_DRAFT[name as keyof Draft]);
