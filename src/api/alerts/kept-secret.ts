import { ALERT_SECRET_NAME, alertEnvironment, type AlertSecret } from "../../alerts/alert-secret.ts";
import { openSecrets } from "../../secrets/run-secrets.ts";
import type { AppPorts } from "../app-ports.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { drawId, sealerOf } from "../secrets/sealing.ts";

/** Addresses and signing secrets of alerts, among the secrets of their team. `id`: of the alert. */

/** Null where nothing is kept. Throws `missing_key` for what cannot be opened. */
export async function readAlertSecret(ports: AppPorts, id: string): Promise<AlertSecret | null> {
  const { secrets } = await readTwice(
    () => ports.registry,
    (registry) => registry.secretsFor({ environment: alertEnvironment(id), run: null, names: [] }),
  );
  if (secrets.length === 0) return null;
  const [secret] = unwrap(await openSecrets(unwrap(await ports.masterKeys()), ports.team, secrets));
  return secret === undefined ? null : (JSON.parse(secret.value) as AlertSecret);
}

/** Throws `missing_key` where the service has no master key. */
export async function keepAlertSecret(ports: AppPorts, id: string, secret: AlertSecret, by: string): Promise<void> {
  const sealed = await sealerOf(ports);
  const environment = alertEnvironment(id);
  const [kept] = await ports.registry.listSecrets(environment);
  const at = kept?.id ?? drawId();
  const value = await sealed(at, JSON.stringify(secret));
  if (kept !== undefined) unwrap(await ports.registry.changeSecret(at, environment, { value }));
  else unwrap(await ports.registry.createSecret({ id: at, environment, name: ALERT_SECRET_NAME, description: null, hosts: [], created_by: by, ...value }));
}

export async function dropAlertSecret(ports: AppPorts, id: string): Promise<void> {
  const environment = alertEnvironment(id);
  for (const kept of await ports.registry.listSecrets(environment)) await ports.registry.deleteSecret(kept.id, environment);
}
