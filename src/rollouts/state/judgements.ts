import { MAX_JUDGEMENT_CHARACTERS, MAX_JUDGEMENTS_CHARACTERS } from "../../limits.ts";
import { contentText } from "../messages.ts";
import type { Message, ModelResponse } from "../types.ts";
import { trajectoryOf } from "./judge-usage.ts";

/** What judges said of one rollout, by the whole prompt that they were shown; a list where the same was asked several times. */
export type Judgements = Readonly<Record<string, string | readonly string[]>>;

interface Noted {
  readonly answers: Map<string, string[]>;
  characters: number;
}

/** Beside the states, by their trajectories: an environment may hand its judge a copy of the state. */
const noted = new WeakMap<object, Noted>();

/**
 * Notes what a judge was shown and said, for the rollout whose state the request names; of one that names none nobody knows whose it is. A text that is too
 * long is cut, and what is too much for one rollout is left out.
 */
export function noteJudgement(state: Readonly<Record<string, unknown>>, prompt: readonly Message[], { message }: Pick<ModelResponse, "message">): void {
  const calls = message.tool_calls ?? [];
  const said = contentText(message.content);
  note(state, promptText(prompt), said === "" && calls.length > 0 ? JSON.stringify(calls) : said);
}

function note(state: Readonly<Record<string, unknown>>, prompt: string, answer: string): void {
  const trajectory = trajectoryOf(state);
  if (trajectory === null) return;
  const own = noted.get(trajectory) ?? { answers: new Map<string, string[]>(), characters: 0 };
  const [shown, said] = [cut(prompt), cut(answer)];
  const known = own.answers.get(shown);
  const characters = said.length + (known === undefined ? shown.length : 0);
  if (own.characters + characters > MAX_JUDGEMENTS_CHARACTERS) return;
  own.characters += characters;
  if (known === undefined) own.answers.set(shown, [said]);
  else known.push(said);
  noted.set(trajectory, own);
}

/** Null while none was noted. */
export function judgementsOf(state: Readonly<Record<string, unknown>>): Judgements | null {
  const trajectory = trajectoryOf(state);
  const own = trajectory === null ? undefined : noted.get(trajectory);
  return own === undefined ? null : Object.fromEntries([...own.answers].map(([shown, said]) => [shown, said.length === 1 ? (said[0] ?? "") : said]));
}

/** For a state that is opened again, or whose questions were asked for another one: in the place of what was noted of it. */
export function keepJudgements(state: Readonly<Record<string, unknown>>, judgements: Judgements | null): void {
  const trajectory = trajectoryOf(state);
  if (trajectory === null) return;
  noted.delete(trajectory);
  for (const [shown, said] of Object.entries(judgements ?? {})) for (const each of typeof said === "string" ? [said] : said) note(state, shown, each);
}

/** The text alone where there is one message, as verifiers' judges are asked; else who says what. */
function promptText(prompt: readonly Message[]): string {
  const [only] = prompt;
  if (only !== undefined && prompt.length === 1) return contentText(only.content);
  return prompt.map(({ role, content }) => `${role}: ${contentText(content)}`).join("\n\n");
}

const cut = (text: string): string =>
  text.length <= MAX_JUDGEMENT_CHARACTERS ? text : `${text.slice(0, MAX_JUDGEMENT_CHARACTERS)}… (${text.length - MAX_JUDGEMENT_CHARACTERS} characters more)`;
