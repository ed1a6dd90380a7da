/** What to say when a service does not answer, does not know this command, or is not a service of ours. */
import { isLoopbackHost, parseUrl } from "../../config/endpoints/addresses.ts";
import { CliError, reasonOf, systemCode, tlsReason } from "../terminal/cli-error.ts";
import { scarceBytes } from "../disk/disk-watch.ts";
import type { ServiceError } from "../connection/http-client.ts";
import { damagedState, damageOf, wordsOf } from "../state/state-damage.ts";
import { HELD_STATUS } from "./door-rules.ts";
import type { Service } from "./service.ts";

const ELSEWHERE = "or unset EDGEWISE_URL to run on this machine.";

/** No answer, for good. */
export function serviceLost({ role, url, stateFolder }: Pick<Service, "role" | "url" | "stateFolder">, error: unknown): CliError {
  if (role !== "remote") {
    return new CliError(`the local service at ${url} stopped answering: ${reasonOf(error)}`, {
      hints: [`Details are in ${stateFolder}/service.log.`],
      cause: error,
    });
  }
  return new CliError(`${url} (EDGEWISE_URL) cannot be reached: ${reasonOf(error)}`, { hints: [unreachableHint(url, error)], cause: error });
}

function unreachableHint(url: string, error: unknown): string {
  if (tlsReason(error) !== null) return "Check EDGEWISE_URL; NODE_EXTRA_CA_CERTS=<file> makes this command trust a certificate of your own.";
  if (systemCode(error) === "ECONNREFUSED" && isLoopbackHost(parseUrl(url)?.hostname ?? "")) {
    return `Nothing listens there: start it with \`npx edgewise serve\`, ${ELSEWHERE}`;
  }
  return `Check the address and the network, ${ELSEWHERE}`;
}

/** The service met something it did not expect. Of a service of this folder more can be said than it says itself. */
export function internalError({ role, url, stateFolder }: Pick<Service, "role" | "url" | "stateFolder">, error: ServiceError): CliError {
  if (role === "remote" || stateFolder === null) return new CliError(`${url}: ${error.message}`, { cause: error });
  if (error.status === HELD_STATUS) return new CliError(error.message, { hints: ["Mend its code, and begin again."], cause: error });
  const damage = damageBehind(stateFolder, error);
  if (damage !== null) return damage;
  const free = scarceBytes(stateFolder);
  if (free === null) return new CliError("the local service met an unexpected error", { hints: [`Details are in ${stateFolder}/service.log.`], cause: error });
  return new CliError(`the local service failed, and its disk is full or nearly so: ${(free / 1e6).toFixed(1)} MB are free for ${stateFolder}`, {
    hints: ["Make room (`npx edgewise prune` removes the state of finished runs), or name a folder elsewhere with EDGEWISE_STATE_DIR."],
    cause: error,
  });
}

/** The service did not get at what it stored. */
export function storageError({ role, stateFolder }: Pick<Service, "role" | "stateFolder">, error: ServiceError): CliError {
  const damage = role === "remote" || stateFolder === null ? null : damageBehind(stateFolder, error);
  return damage ?? new CliError(error.message, { hints: error.hint === null ? [] : [error.hint] });
}

function damageBehind(stateFolder: string, error: ServiceError): CliError | null {
  const [damage] = damageOf(stateFolder);
  return damage === undefined ? null : damagedState(stateFolder, wordsOf(damage), error);
}

/** The service wants a token, or another one. */
export function accessRefused({ role, url, owner }: Pick<Service, "role" | "url" | "owner">, error: ServiceError, token: string | null): CliError {
  // How to send a token is this command's business.
  const hints = error.hint === null || error.hint.includes("Bearer") ? [] : [error.hint];
  if (role === "remote")
    hints.push(token === null ? "EDGEWISE_TOKEN is not set here: set it to the token of the service." : "EDGEWISE_TOKEN is set here, but to another value.");
  else {
    const { pid, command } = owner ?? { pid: process.pid, command: "this command" };
    hints.push(`The service of this folder (process ${pid}, ${command}) was started with EDGEWISE_TOKEN set: set it to the same here.`);
  }
  return new CliError(`${url} refuses this command: ${error.message}`, { hints, cause: error });
}

/** Something else answers, or a proxy in front of the service. */
export function foreignAnswer({ role, url }: Pick<Service, "role" | "url">, error: ServiceError): CliError {
  if (error.status >= 500 || error.status === 429) {
    return new CliError(`${url} is not ready: ${error.message}`, {
      hints: ["The service is starting or overloaded, or a proxy in front of it cannot reach it: try again."],
      cause: error,
    });
  }
  const where = role === "remote" ? `EDGEWISE_URL must be the address of \`edgewise serve\` or of a deployment, ${ELSEWHERE}` : "End whatever listens there.";
  return new CliError(`no edgewise service is at ${url}: ${error.message}`, { hints: [where], cause: error });
}
