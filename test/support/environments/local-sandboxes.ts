import { sandboxesOfThisMachine } from "../../../src/cli/sandboxes/of-this-machine.ts";
import { SandboxAnswers } from "../../../src/cli/sandboxes/answered.ts";
import type { LocalSandboxes } from "../../../src/cli/sandboxes/local-sandboxes.ts";
import { LocalSandbox, type Parent } from "../../../src/sandboxes/local/local-sandbox.ts";

export interface OpenedMachine {
  readonly sandboxes: LocalSandboxes;
  /** As the Worker has it, all but the runtime between the two. */
  readonly driver: LocalSandbox;
}

/** The sandboxes of this machine, asked as the Worker asks. `close()` its `sandboxes` at the end. */
export function openMachine(env: NodeJS.ProcessEnv = {}): OpenedMachine {
  const sandboxes = sandboxesOfThisMachine(env);
  return { sandboxes, driver: new LocalSandbox(parentOf(sandboxes)) };
}

export function parentOf(sandboxes: LocalSandboxes): Parent {
  const answers = new SandboxAnswers(sandboxes);
  return { fetch: async (_url, { body }) => new Response(await answers.answer(body)) };
}

/** Null where bubblewrap makes sandboxes here; else why not, which the tests that need it say. */
export async function bubblewrapProblem(): Promise<string | null> {
  const { sandboxes } = openMachine();
  const [bubblewrap] = await sandboxes.describe();
  await sandboxes.close();
  return bubblewrap?.problem ?? null;
}
