/**
 * How a question becomes the text the model was trained on: `Q: what is 3 + 4?\nA: `. The model knows lower case, single spaces
 * and one question at a time, so a chat is its last user message, written that way; instructions of a system message and
 * earlier turns would be noise to it. An assistant message behind the last question is the beginning of the answer.
 */
export interface ChatTurn {
  readonly role: string;
  readonly content: string;
}

/** The text to be continued, or null when no message is the user's. */
export function renderChat(messages: readonly ChatTurn[]): string | null {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const question = messages[asked];
  if (question === undefined) return null;
  const begun = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  return renderQuestion(question.content) + begun.map(({ content }) => content).join("");
}

/** One question as the model was trained to read it; what follows is the answer and the end of the text. */
export const renderQuestion = (question: string): string => `Q: ${question.trim().replaceAll(/\s+/g, " ").toLowerCase()}\nA: `;
