import { type Completion, meanOverMessages, Parser } from "./parser.ts";

const CLOSE = "</think>";

/** Text after the last `</think>`, trimmed; null when there is none. */
function afterThinking(text: string): string | null {
  const at = text.lastIndexOf(CLOSE);
  return at < 0 ? null : text.slice(at + CLOSE.length).trim();
}

const count = (text: string, part: string): number => text.split(part).length - 1;

/** For models that must think aloud: a text without `</think>` has no answer, which is the empty text. */
export class ThinkParser extends Parser {
  override parse(text: string): string {
    return this.parseText(text);
  }

  override parseText(text: string): string {
    return this.extract(afterThinking(text) ?? "");
  }

  /** 1 iff the text begins with the only `<think>`, holds one `</think>`, and something follows it. */
  override formatReward(completion: Completion): number {
    return meanOverMessages(completion, (text) => {
      const begins = text.trim().startsWith("<think>") && count(text, "<think>") === 1;
      return begins && count(text, CLOSE) === 1 && text.slice(text.indexOf(CLOSE) + CLOSE.length).length > 0 ? 1 : 0;
    });
  }
}

/** For models that may think aloud: a text without `</think>` is the answer as a whole. */
export class MaybeThinkParser extends Parser {
  override parse(text: string): string {
    return this.parseText(text);
  }

  override parseText(text: string): string {
    return this.extract(afterThinking(text) ?? text.trim());
  }
}
