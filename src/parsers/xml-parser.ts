import { contentText } from "../rollouts/messages.ts";
import { assistantMessages, type Completion, meanOverMessages, Parser } from "./parser.ts";

/** A tag, or alternatives of which the first is the field's name. */
export type XmlField = string | readonly string[];

interface Field {
  readonly name: string;
  readonly tags: readonly string[];
}

function readFields(fields: readonly XmlField[]): Field[] {
  const seen = new Set<string>();
  return fields.map((field) => {
    const tags = typeof field === "string" ? [field] : field;
    if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) {
      throw new TypeError(`XMLParser: a field is a tag or a list of tags, not ${JSON.stringify(field)}`);
    }
    const name = tags[0];
    if (name === undefined) throw new RangeError("XMLParser: a field needs at least one tag");
    if (seen.has(name)) throw new RangeError(`XMLParser: the field ${name} is named twice`);
    seen.add(name);
    return { name, tags };
  });
}

/** Fields in tags: `<answer>4</answer>`. Tags are matched without attributes, case-sensitively, across lines. */
export class XMLParser extends Parser {
  /** The tag that holds the answer: it alone, also where its field has alternatives; a tag of no field holds none. */
  readonly answerField: string;
  readonly #fields: readonly Field[];

  constructor(fields: readonly XmlField[], options: { answerField?: string } = {}) {
    super();
    this.#fields = readFields(fields);
    this.answerField = options.answerField ?? "answer";
  }

  /** Every alternative tag with its first (or last) trimmed content; null where a tag is missing. */
  override parse(text: string, options: { last?: boolean } = {}): Record<string, string | null> {
    const values: Record<string, string | null> = {};
    for (const { tags } of this.#fields) for (const tag of tags) values[tag] = this.#match(tag, text, options.last === true);
    return values;
  }

  /** Last content of the answer field; null where no field has its tag. */
  override parseText(text: string): string | null {
    return this.#answer(text, true);
  }

  /** In messages: from the last assistant message backwards, the first match inside each. An empty content counts as found. */
  override parseAnswer(completion: Completion): string | null {
    if (completion === null || typeof completion === "string") return super.parseAnswer(completion);
    for (const message of assistantMessages(completion).reverse()) {
      const answer = this.#answer(contentText(message.content), false);
      if (answer !== null) return answer;
    }
    return null;
  }

  /** The names of the fields, in order. */
  getFields(): string[] {
    return this.#fields.map((field) => field.name);
  }

  /** The form to show a model: each field on lines of its own, alternatives as `<[ a | b ]>`. */
  getFormatStr(): string {
    return this.#fields
      .map(({ tags }) => {
        const shown = tags.length === 1 ? tags[0] : `[ ${tags.join(" | ")} ]`;
        return `<${shown}>\n...\n</${shown}>`;
      })
      .join("\n");
  }

  /** A text in the form. Values are looked up by the field's name, then by its alternatives. */
  format(values: Readonly<Record<string, string | null | undefined>>): string {
    return this.#fields
      .map(({ name, tags }) => {
        const value = tags.map((tag) => values[tag]).find((each) => each !== null && each !== undefined);
        if (value === undefined) throw new RangeError(`Missing value for field: ${name}`);
        return `<${name}>\n${value}\n</${name}>`;
      })
      .join("\n");
  }

  /** The reference's measure to the digit, its generosity towards plain text (0.2) included. */
  override formatReward(completion: Completion): number {
    return meanOverMessages(completion, (text) => this.#formOf(text));
  }

  #formOf(text: string): number {
    const first = this.#fields[0];
    const last = this.#fields.at(-1);
    if (first === undefined || last === undefined) return 0;
    const parsed = this.parse(text);
    const trimmed = text.trim();
    let present = 0;
    let anyParsed = false;
    for (const { tags } of this.#fields) {
      const found = tags.some((tag) => parsed[tag] !== null);
      anyParsed ||= found;
      if (found || tags.some((tag) => text.includes(`<${tag}>`) || text.includes(`</${tag}>`))) present++;
    }
    // The reference's spacing term compares two parses that its pattern makes equal, so every text earns it.
    let score = 0.2;
    if (anyParsed) score += 0.4 * (present / this.#fields.length);
    if (first.tags.some((tag) => trimmed.startsWith(`<${tag}>`))) score += 0.2;
    if (last.tags.some((tag) => trimmed.endsWith(`</${tag}>`))) score += 0.2;
    return score;
  }

  #answer(text: string, last: boolean): string | null {
    const known = this.#fields.some(({ tags }) => tags.includes(this.answerField));
    return known ? this.#match(this.answerField, text, last) : null;
  }

  /** By index search, which stays linear where a model repeats an open tag for ever; finds what a non-greedy pattern would. */
  #match(tag: string, text: string, last: boolean): string | null {
    const open = `<${tag}>`;
    const close = `</${tag}>`;
    let found: string | null = null;
    for (let at = text.indexOf(open); at >= 0; ) {
      const end = text.indexOf(close, at + open.length);
      if (end < 0) break;
      found = text.slice(at + open.length, end).trim();
      if (!last) break;
      at = text.indexOf(open, end + close.length);
    }
    return found;
  }
}
