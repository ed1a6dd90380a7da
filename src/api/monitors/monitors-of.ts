import { EdgewiseError } from "../../errors/result.ts";
import { definitionOfRuns } from "../../monitors/definition.ts";
import { digestOfToken, drawText } from "../../teams/token-text.ts";
import type { AppPorts, MonitorPorts } from "../app-ports.ts";
import { unwrap } from "../errors.ts";

/** Throws `not_found` in a deployment that has none. */
export function monitorsOf({ monitors }: AppPorts): MonitorPorts {
  if (monitors !== null) return monitors;
  throw new EdgewiseError("not_found", "This deployment has no monitors.", {
    hint: "Take the binding MONITOR and its migration over from the wrangler.toml of this version, export Monitor from the main module, and deploy.",
  });
}

/** The monitor that a run reports to, made where the team has none of this name: it beats by the run's own clock. Nobody has its address until somebody asks for one. */
export async function monitorOfRun(ports: AppPorts, name: string): Promise<{ readonly name: string; readonly id: string }> {
  const own = monitorsOf(ports);
  const { id } = unwrap(await own.index.reserveMonitor(name));
  const definition = definitionOfRuns(own.heartbeatMs);
  const secret_digest = await digestOfToken(drawText());
  unwrap(await own.of(id).put({ team: ports.team, name, id, definition, secret_digest, by: null, only_if_missing: true }));
  return { name, id };
}

/** The field of the config of each run; of one name it is one monitor. */
export async function monitorsOfRuns(
  ports: AppPorts,
  names: readonly (string | undefined)[],
): Promise<readonly { readonly monitor?: { readonly name: string; readonly id: string } }[]> {
  const made = new Map<string, { readonly name: string; readonly id: string }>();
  for (const name of new Set(names)) if (name !== undefined) made.set(name, await monitorOfRun(ports, name));
  return names.map((name) => {
    const monitor = name === undefined ? undefined : made.get(name);
    return monitor === undefined ? {} : { monitor };
  });
}
