/** `edgewise secret rotate` and `secret key`: another master key for the secrets of the service. */
import { resolve } from "node:path";
import { askService } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { beginRotation, endRotation, writeMasterKey } from "../state/master-key.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";

interface Slice {
  readonly key: string;
  readonly changed: number;
  readonly unreadable: number;
  readonly next: { readonly team: string; readonly after: string } | null;
}

/** Passes over all values; the last one finds nothing to do. */
const MOST_PASSES = 5;

/** Encrypts everything anew, in slices, while the service works. Broken off at any point it is typed again. */
export async function secretRotate(context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  await askService(
    context,
    "edgewise secret rotate",
    async ({ client, stateFolder }) => {
      if (stateFolder !== null) beginRotation(stateFolder);
      let [total, unreadable, key] = [0, 0, ""];
      for (let pass = 0; pass < MOST_PASSES; pass++) {
        let changed = 0;
        unreadable = 0;
        for (let next: Slice["next"] | Record<string, never> = {}; next !== null; ) {
          const { data }: { data: Slice } = await client.json<{ data: Slice }>("POST", "/secrets/rotate", { body: next, retries: 3 });
          changed += data.changed;
          unreadable += data.unreadable;
          key = data.key;
          next = data.next;
        }
        total += changed;
        if (changed === 0) break;
        if (pass === MOST_PASSES - 1) throw new CliError("secrets kept changing while they were encrypted anew", { hints: ["Type it again."] });
      }
      if (unreadable > 0) {
        throw new CliError(`${total} values are encrypted with the master key ${key}; ${unreadable} are of a key that the service does not have`, {
          hints: ["Put that key back, or give those secrets their values again or delete them; then type it again."],
        });
      }
      if (stateFolder !== null) await endRotation(stateFolder, key);
      terminal.print(`Every secret is encrypted with the master key ${key}; ${total} values were encrypted anew.`);
      if (stateFolder === null)
        terminal.tell(
          "Make it the only one: npx wrangler secret put EDGEWISE_MASTER_KEY < FILE, with the file of EDGEWISE_MASTER_KEY_NEXT; then npx wrangler secret delete EDGEWISE_MASTER_KEY_NEXT.",
        );
    },
    true,
  );
  return EXIT.completed;
}

/** Writes a new master key to a file, for `wrangler secret put`; it is printed nowhere. */
export function secretKey({ cwd, terminal }: CommandContext, file: string): ExitCode {
  writeMasterKey(resolve(cwd, file));
  terminal.tell(
    `A new master key is in ${file}, for you alone. Type: npx wrangler secret put EDGEWISE_MASTER_KEY < ${file} (to replace one that is in use: EDGEWISE_MASTER_KEY_NEXT, then npx edgewise secret rotate). Keep the file where nobody else reads it: without the key secrets cannot be read.`,
  );
  return EXIT.completed;
}
