import { contentText } from "../rollouts/messages.ts";
import { type RolloutOutput, readOutput } from "../rollouts/rows/output.ts";
import type { Message } from "../rollouts/types.ts";

const messageText = (message: Message): string => {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []).map(({ name, arguments: text }) => `${name}(${text})`) : [];
  return `${message.role}: ${[contentText(message.content), ...calls].filter((part) => part !== "").join(" ")}`;
};

const block = (title: string, lines: readonly string[]): string => [`--- ${title} ---`, ...lines].join("\n");

function outputText(output: RolloutOutput): string {
  const messages = (list: readonly Message[] | null): string[] => (list ?? []).map(messageText);
  const error = output.error === null || output.error === undefined ? [] : [`error: ${output.error.error_chain_repr}`];
  return [
    block("Prompt", messages(output.prompt)),
    block("Completion", [...messages(output.completion), ...error]),
    block("Reward", [String(output.reward)]),
  ].join("\n");
}

/** Prints the first `n` rollouts of an evaluation, for a look at what a model was asked and said; `print` is given whole texts. */
export function printPromptCompletionsSample(
  { outputs }: { readonly outputs: readonly object[] },
  n = 3,
  print: (text: string) => void = (text) => console.log(text),
): void {
  for (const row of outputs.slice(0, Math.max(0, n))) print(outputText(readOutput(row)));
}
