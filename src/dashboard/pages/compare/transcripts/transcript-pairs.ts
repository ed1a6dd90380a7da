import { callsOf, type RowMessage, messagesOfRow, textOfContent } from "../../../../cells/row-messages.ts";

type Row = Readonly<Record<string, unknown>>;

/** A text of a message: its content, its reasoning, or one call of a tool. */
export interface Block {
  /** "" of the content. */
  readonly name: string;
  readonly text: string;
}

/** One message of either run, at the same place of its transcript; null where one has none there. */
export interface MessagePair {
  readonly number: number;
  readonly part: "prompt" | "completion";
  readonly left: SidedMessage | null;
  readonly right: SidedMessage | null;
  readonly isSame: boolean;
}

export interface SidedMessage {
  readonly role: string;
  readonly blocks: readonly Block[];
}

/** Messages of two rows side by side: those of the prompts, then those of the completions, by their places. */
export function pairsOf(left: Row, right: Row): readonly MessagePair[] {
  const [one, two] = [messagesOfRow(left), messagesOfRow(right)];
  const pairs: MessagePair[] = [];
  for (const part of ["prompt", "completion"] as const) {
    const [own, others] = [one, two].map((messages) => messages.filter((each) => each.part === part));
    const length = Math.max(own?.length ?? 0, others?.length ?? 0);
    for (let at = 0; at < length; at++) {
      const [a, b] = [sided(own?.[at]), sided(others?.[at])];
      pairs.push({ number: pairs.length + 1, part, left: a, right: b, isSame: a !== null && b !== null && sameTexts(a, b) });
    }
  }
  return pairs;
}

function sided(given: RowMessage | undefined): SidedMessage | null {
  if (given === undefined) return null;
  const { message } = given;
  const reasoning = [message.reasoning_content, message.reasoning].find((each) => typeof each === "string" && each !== "");
  const content = textOfContent(message.content);
  const calls = callsOf(message);
  return {
    role: typeof message.role === "string" ? message.role : "?",
    blocks: [
      ...(typeof reasoning === "string" ? [{ name: "reasoning", text: reasoning }] : []),
      ...(content === "" && calls.length > 0 ? [] : [{ name: "", text: content }]),
      ...calls.map(({ name, arguments: given }) => ({ name: `calls ${name}`, text: given })),
    ],
  };
}

const sameTexts = (a: SidedMessage, b: SidedMessage): boolean =>
  a.role === b.role &&
  a.blocks.length === b.blocks.length &&
  a.blocks.every(({ name, text }, at) => name === b.blocks[at]?.name && text === b.blocks[at]?.text);

/** Blocks of a pair of messages beside each other: those of one name in their order. */
export function blockPairs(
  left: SidedMessage | null,
  right: SidedMessage | null,
): readonly { readonly name: string; readonly left: string | null; readonly right: string | null }[] {
  const rest = [...(right?.blocks ?? [])];
  const pairs: { name: string; left: string | null; right: string | null }[] = [];
  for (const { name, text } of left?.blocks ?? []) {
    const at = rest.findIndex((each) => each.name === name);
    pairs.push({ name, left: text, right: at < 0 ? null : (rest.splice(at, 1)[0]?.text ?? null) });
  }
  return [...pairs, ...rest.map(({ name, text }) => ({ name, left: null, right: text }))];
}

/** Neighbours that are the same in both, folded into one; the others one by one. */
export function foldedPairs(pairs: readonly MessagePair[]): readonly (MessagePair | readonly MessagePair[])[] {
  const folded: (MessagePair | MessagePair[])[] = [];
  for (const pair of pairs) {
    const last = folded.at(-1);
    if (!pair.isSame) folded.push(pair);
    else if (Array.isArray(last)) last.push(pair);
    else folded.push([pair]);
  }
  return folded;
}
