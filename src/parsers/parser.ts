import { contentText } from "../rollouts/messages.ts";
import type { AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage } from "../rollouts/types.ts";

/** Takes the part of a text that counts. */
export type Extract = (text: string) => string;

/** What a model wrote: a raw text, or the messages of a rollout. */
export type Completion = string | readonly Message[] | null;

export const assistantMessages = (completion: readonly Message[]): AssistantMessage[] => completion.filter((message) => message.role === "assistant");

/** What a parser makes of a text: a part of it, or named parts, null where there is none. */
export type Parsed = string | null | Readonly<Record<string, string | null>>;

/** Finds the answer in a completion. The base class takes the whole text, through `extract` when one is given. */
export class Parser {
  protected readonly extract: Extract;

  constructor(extract: Extract = (text) => text) {
    this.extract = extract;
  }

  /** One text, taken apart. */
  parse(text: string): Parsed {
    return this.parseText(text);
  }

  /** The answer in one text; null when it holds none. */
  parseText(text: string): string | null {
    return this.extract(text);
  }

  /** The answer of the last assistant message; null when there is no such message or it holds none. */
  parseAnswer(completion: Completion): string | null {
    if (completion === null) return null;
    if (typeof completion === "string") return this.parseText(completion);
    const last = assistantMessages(completion).at(-1);
    return last === undefined ? null : this.parseText(contentText(last.content));
  }

  getAssistantMessages(completion: readonly Message[]): AssistantMessage[] {
    return assistantMessages(completion);
  }

  getSystemMessages(completion: readonly Message[]): SystemMessage[] {
    return completion.filter((message) => message.role === "system");
  }

  getUserMessages(completion: readonly Message[]): UserMessage[] {
    return completion.filter((message) => message.role === "user");
  }

  getToolMessages(completion: readonly Message[]): ToolMessage[] {
    return completion.filter((message) => message.role === "tool");
  }

  /** How well the messages of a completion keep to the form, 0 to 1; a parser without a form is always content. A raw text has no messages. */
  formatReward(_completion: Completion): number {
    return 1;
  }

  /** `formatReward` as a reward function; its metric is `format_reward_func`, as in verifiers. */
  getFormatRewardFunc(): (context: { readonly completion: Completion }) => number {
    const score = ({ completion }: { readonly completion: Completion }): number => this.formatReward(completion);
    return Object.defineProperty(score, "name", { value: "format_reward_func" });
  }
}

/** Mean of `score` over the assistant messages; 0 when there are none, and for a raw text, as in verifiers. */
export function meanOverMessages(completion: Completion, score: (text: string) => number): number {
  if (completion === null || typeof completion === "string") return 0;
  const messages = assistantMessages(completion);
  if (messages.length === 0) return 0;
  return messages.reduce((sum, message) => sum + score(contentText(message.content)), 0) / messages.length;
}
