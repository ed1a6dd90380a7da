import { SandboxError } from "../../errors/rollout-errors.ts";
import { messagesIn } from "./connect-stream.ts";
import type { CommandEvent } from "./remote-command.ts";

/** The events of a command's stream, each read by `eventIn`, which gives null for what says nothing. */
export async function* commandEvents(
  provider: string,
  response: Response,
  eventIn: (message: Uint8Array) => CommandEvent | null,
): AsyncGenerator<CommandEvent> {
  if (response.body === null) throw new SandboxError(`an answer of ${provider} is empty`);
  for await (const message of messagesIn(response.body)) {
    let event: CommandEvent | null;
    try {
      event = eventIn(message);
    } catch (cause) {
      throw new SandboxError(`a message of ${provider} cannot be read`, { cause });
    }
    if (event !== null) yield event;
  }
}
