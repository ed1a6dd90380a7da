import { openSession } from "../../../src/environment-session/session.ts";
import type { EnvironmentDefinition } from "../../../src/environments/definition/definition.ts";
import { type OfferedEnvironment, offeredDefinition } from "../../../src/environments/definition/offered.ts";
import type { HttpPatience } from "../../../src/environment-http/http-channel.ts";
import { httpOpener } from "../../../src/environment-http/http-opener.ts";
import { type WalledOptions, walledEnvironment } from "../../../src/walled/walled-environment.ts";
import { type EnvironmentServer, environmentServer, type ServerOptions } from "./environment-server.ts";

export interface ServedEnvironment extends EnvironmentServer {
  readonly offered: OfferedEnvironment & ReturnType<typeof walledEnvironment>;
}

export interface ServedWith {
  readonly server?: ServerOptions;
  readonly http?: HttpPatience;
  readonly walled?: WalledOptions;
  /** For the engine, in place of the server's own. */
  readonly token?: string;
}

/** `definition` behind a server on loopback, as the engine has it. */
export async function served(definition: EnvironmentDefinition, { server, http, walled, token }: ServedWith = {}): Promise<ServedEnvironment> {
  const own = await environmentServer((channel) => openSession(() => definition, channel), server);
  const open = httpOpener({ url: own.url, token: token ?? own.token }, { fetch, ...http });
  return Object.assign(own, { offered: walledEnvironment(offeredDefinition(definition), open, walled) });
}
