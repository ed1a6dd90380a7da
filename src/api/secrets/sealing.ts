import type { SealedValue } from "../../../durable-objects/registry/secrets/secret-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { seal } from "../../secrets/envelope.ts";
import type { AppPorts } from "../app-ports.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";

/** Encrypts values of the team, with the one master key that its Registry takes. Throws `missing_key` where the service has none, or not that one. */
export async function sealerOf(ports: AppPorts): Promise<(id: string, value: string) => Promise<SealedValue>> {
  const keys = unwrap(await ports.masterKeys());
  const wanted = await readTwice(
    () => ports.registry,
    (registry) => registry.sealingKey(),
  );
  const key = wanted === null ? keys.newest : keys.byId(wanted);
  if (key === null)
    throw new EdgewiseError("missing_key", `Secrets here are encrypted with the master key ${wanted}, which this service does not have.`, {
      hint: "Put that key back as EDGEWISE_MASTER_KEY; if it is lost, `npx edgewise secret rotate` goes on with the new one, and each secret must be given its value again.",
    });
  return async (id, value) => ({ sealed: await seal(key, { team: ports.team, id }, value), key: key.id });
}

export const drawId = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 12);
