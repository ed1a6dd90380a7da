import { callsOf, textOfContent, type RowMessage } from "../../../../cells/row-messages.ts";
import type { MessageOutline } from "../../../../cells/outline.ts";

/** All text of a message that is looked through: what it says, what was thought, and what its calls are given. */
export function searchedText({ message }: RowMessage): string {
  const reasoning = [message.reasoning_content, message.reasoning].filter((each) => typeof each === "string");
  return [textOfContent(message.content), ...reasoning, ...callsOf(message).map(({ name, arguments: given }) => `${name} ${given}`)].join("\n");
}

/** The same of a message that stands whole in its outline; null of others. */
export const outlinedText = ({ chars, text, reasoning_chars, tool_calls }: MessageOutline): string | null =>
  chars === text.length && reasoning_chars === undefined && tool_calls === undefined ? text : null;

/** How often `wanted` (in small letters) is in a text, whatever its case. */
export function countIn(text: string, wanted: string): number {
  if (wanted === "") return 0;
  const small = text.toLowerCase();
  let count = 0;
  for (let at = small.indexOf(wanted); at >= 0; at = small.indexOf(wanted, at + wanted.length)) count++;
  return count;
}
