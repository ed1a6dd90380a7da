import type { DeliveryOrder } from "../../durable-objects/alert-book/alert-book-control.ts";
import type { AlertTask } from "../../durable-objects/alert-book/alert-task.ts";
import { alertBookStub, registryStub } from "../../durable-objects/stubs.ts";
import { type AlertSecret, alertEnvironment, hiddenIn } from "../alerts/alert-secret.ts";
import type { Attempt } from "../alerts/answer.ts";
import { bodyOf, mailOf, type MessageContext } from "../alerts/message.ts";
import { signatureOf } from "../alerts/signature.ts";
import { addressProblem } from "../config/endpoints/called-place.ts";
import { type Env, isLocal, masterKeysIn } from "../env.ts";
import { type Failure, failureOf, fail, ok, type Result } from "../errors/result.ts";
import { openSecrets } from "../secrets/run-secrets.ts";
import { VERSION } from "../version.ts";
import { postMessage } from "./post-message.ts";

export type Fetch = Parameters<typeof postMessage>[1];
/** As it is before the code of an environment runs in this isolate. */
const platformFetch = fetch;
export const overNetwork: Fetch = (url, init) => platformFetch(url, init);

/** Sends one message of an alert, once, if it is to be sent now, and tells the book what came of it. A task without one lets the book look. */
export async function deliver(env: Env, { team, delivery }: AlertTask, send: Fetch = overNetwork): Promise<void> {
  if (delivery === null) return alertBookStub(env, team)?.poke();
  const order = await alertBookStub(env, team)?.begin(delivery);
  if (order === null || order === undefined) return;
  const result = await attempt(env, team, order, send);
  await alertBookStub(env, team)?.ended({ delivery, attempt: order.attempt, result });
}

async function attempt(env: Env, team: string, order: DeliveryOrder, send: Fetch): Promise<Attempt> {
  const at = Date.now();
  try {
    const { to, email } = order.alert.definition;
    const context: MessageContext = { team, alert: order.alert.name, origin: order.alert.origin };
    if (to === "email") return await mailed(env, email ?? "", order, context);
    const opened = await secretOf(env, team, order.alert.id);
    if (!opened.ok) return notSent(at, opened.error);
    const { url, signing } = opened.value;
    if (url === null) return notSent(at, { code: "missing_key", message: "The alert has no address any more: put it again." });
    const body = bodyOf(to, order.told, context);
    const seconds = Math.floor(at / 1_000);
    const signed: Record<string, string> =
      signing === null ? {} : { "webhook-timestamp": String(seconds), "webhook-signature": await signatureOf(signing, order.delivery, seconds, body) };
    return await postMessage(
      {
        url,
        body,
        headers: { "user-agent": `edgewise/${VERSION}`, ...(to === "webhook" ? { "webhook-id": order.delivery, ...signed } : {}) },
        hidden: hiddenIn(opened.value),
        refusal: isLocal(env) ? null : addressProblem(url),
      },
      send,
      Date.now,
    );
  } catch (thrown) {
    return notSent(at, failureOf(thrown));
  }
}

const notSent = (at: number, { message }: Failure): Attempt => ({
  at,
  ms: Math.max(0, Date.now() - at),
  status: null,
  problem: message,
  body: "",
  asked_ms: null,
});

/** Opens what is kept of an alert. Fails with `missing_key` where it is not there, or cannot be opened. */
export async function secretOf(env: Env, team: string, id: string): Promise<Result<AlertSecret>> {
  const { secrets } = await registryStub(env, team).secretsFor({ environment: alertEnvironment(id), run: null, names: [] });
  const keys = await masterKeysIn(env);
  if (!keys.ok) return keys;
  const opened = await openSecrets(keys.value, team, secrets);
  if (!opened.ok) return opened;
  const [secret] = opened.value;
  return secret === undefined ? fail("missing_key", "The alert has no address any more: put it again.") : ok(JSON.parse(secret.value) as AlertSecret);
}

async function mailed({ EMAIL, ALERTS_FROM }: Env, to: string, order: DeliveryOrder, context: MessageContext): Promise<Attempt> {
  const at = Date.now();
  if (EMAIL === undefined || !ALERTS_FROM)
    return notSent(at, { code: "missing_key", message: "This service sends no email: it has no EMAIL binding or no ALERTS_FROM." });
  await EMAIL.send({ from: ALERTS_FROM, to, ...mailOf(order.told, context) });
  return { at, ms: Math.max(0, Date.now() - at), status: null, problem: null, body: "", asked_ms: null };
}
