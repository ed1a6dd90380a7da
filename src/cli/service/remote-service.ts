/** The service that `EDGEWISE_URL` names: deployed, or `edgewise serve` in another folder. */
import { isLoopbackHost, parseUrl } from "../../config/endpoints/addresses.ts";
import { usageError } from "../terminal/cli-error.ts";
import { ServiceClient, ServiceError, ServiceUnreachable } from "../connection/http-client.ts";
import type { Service } from "./service.ts";
import { foreignAnswer, serviceLost } from "./service-errors.ts";

/** Asks once whether it is there, so that a wrong address is told before anything is sent to it. Throws a `CliError` that says what to change. */
export async function openRemoteService(env: NodeJS.ProcessEnv): Promise<Service> {
  const address = serviceAddress(env.EDGEWISE_URL ?? "");
  const service: Service = {
    role: "remote",
    url: address,
    client: new ServiceClient(address, { token: serviceToken(env) }),
    stateFolder: null,
    owner: null,
    orphaned: null,
    clients: () => [],
    close: () => Promise.resolve(),
  };
  try {
    await service.client.health();
    return service;
  } catch (error) {
    if (error instanceof ServiceUnreachable) throw serviceLost(service, error);
    throw error instanceof ServiceError ? foreignAnswer(service, error) : error;
  }
}

/** Without slashes and `/api/v1` at the end, which clients of the same service write differently. */
function serviceAddress(text: string): string {
  const url = parseUrl(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw usageError(`EDGEWISE_URL is not a URL: ${JSON.stringify(text)}`, "Example: EDGEWISE_URL=https://edgewise.example.workers.dev");
  }
  if (url.username !== "" || url.password !== "") throw usageError("EDGEWISE_URL must not hold a user or password", "The token goes to EDGEWISE_TOKEN.");
  if (url.search !== "" || url.hash !== "") throw usageError(`EDGEWISE_URL must end with the path: ${JSON.stringify(text)}`);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw usageError(`EDGEWISE_URL must be https, except on this machine: ${text}`, "The token in EDGEWISE_TOKEN would travel unprotected.");
  }
  return url.href.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}

/** `EDGEWISE_TOKEN`; null when it is not set. Its value appears in no message. */
export function serviceToken({ EDGEWISE_TOKEN: token }: NodeJS.ProcessEnv): string | null {
  if (!token) return null;
  if (!/^[\x21-\x7e]+$/.test(token)) throw usageError("EDGEWISE_TOKEN holds blanks, line ends or characters that no header can carry");
  return token;
}
