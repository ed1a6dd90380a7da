/** Which Hub, and with which token: as its own clients find them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseUrl } from "../../config/endpoints/addresses.ts";
import { HUB_ENDPOINT } from "../../datasets/host.ts";
import type { HubPlace } from "../../hub/hub-client.ts";
import type { CommandContext } from "../service/command-context.ts";
import { collectSecrets } from "../service/local-secrets.ts";
import { usageError } from "../terminal/cli-error.ts";

type Surroundings = Pick<CommandContext, "env" | "cwd" | "home">;

/** Throws a usage error where there is no token, or HF_ENDPOINT is no address. */
export function hubPlace(context: Surroundings): HubPlace {
  const endpoint = (context.env.HF_ENDPOINT || HUB_ENDPOINT).replace(/\/+$/, "");
  if (!/^https?:$/.test(parseUrl(endpoint)?.protocol ?? "")) throw usageError(`HF_ENDPOINT is ${JSON.stringify(endpoint)}, which is no http address`);
  const token = tokenOf(context);
  if (token === null)
    throw usageError(
      "there is no token of the Hugging Face Hub",
      "export HF_TOKEN=hf_…, or type `hf auth login`. One with the right to write is made at https://huggingface.co/settings/tokens",
    );
  if (!/^[\x21-\x7e]+$/.test(token)) throw usageError("HF_TOKEN is no token of the Hugging Face Hub: it has blanks, or characters that no token has");
  return { endpoint, token, fetch: (url, init) => fetch(url, init), sleep: (ms) => sleep(ms) };
}

/** `HF_TOKEN` of the environment or of `.dev.vars`, else what `hf auth login` kept. */
function tokenOf({ env, cwd, home }: Surroundings): string | null {
  const own = collectSecrets({ env, cwd, home, named: ["HF_TOKEN"] }).HF_TOKEN?.trim() ?? "";
  if (own !== "") return own;
  const path = env.HF_TOKEN_PATH || join(env.HF_HOME || join(env.XDG_CACHE_HOME || join(home, ".cache"), "huggingface"), "token");
  try {
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}
