import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/alerts/webhook-receiver.ts";
import { Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";

let place: Workplace;
let receiver: WebhookReceiver;
let served: Served;
beforeAll(async () => {
  place = new Workplace();
  receiver = await startWebhookReceiver();
  served = new Served(place);
  await served.start();
});
afterAll(async () => {
  await served.end("SIGKILL");
  place.remove();
  await receiver.close();
});

/** Output of a command that is to end with `code`. */
const cli = async (
  args: readonly string[],
  { code = 0, env = {} }: { readonly code?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> => {
  const ended = await place.run(args, env);
  expect(ended.code, ended.stdout + ended.stderr).toBe(code);
  return ended.stdout;
};
const secretIn = (text: string): string => /whsec_\S+/.exec(text)?.[0] ?? "";

it("an alert is made by a variable, tested, logged, sent again with its id, and deleted; its receiver verifies what it gets", {
  timeout: 120_000,
}, async () => {
  const env = { ONCALL_URL: `${receiver.url}/oncall` };
  const made = await cli(["alert", "add", "oncall", "--to", "webhook", "--url-var", "ONCALL_URL", "--on", "run.failed", "--for", "night*"], { env });
  expect(made).toMatch(/^Alert oncall is kept\.\n.*shown here and nowhere else:\n {2}whsec_/);
  expect(made).not.toContain(receiver.url);
  const webhook = new Webhook(secretIn(made));
  const again = await cli(["alert", "add", "oncall", "--to", "webhook", "--on", "run.failed", "--for", "night*"]);
  expect(again).toBe("Alert oncall was there already, as it is.\n");

  expect(await cli(["alert", "test", "oncall"])).toMatch(/^msg_\S+ test of \S+ delivered: status 200: thanks\n$/);
  const [message] = receiver.received;
  expect(message?.to).toBe("oncall");
  expect(webhook.verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({ type: "test", data: { alert: "oncall" } });

  const id = message?.headers["webhook-id"] ?? "";
  const log = await cli(["alert", "log", "oncall", "-o", "json"]);
  expect(JSON.parse(log)).toMatchObject({ data: [{ id, state: "delivered", tries: 1, attempts: [{ status: 200, body: "thanks" }] }] });
  receiver.answer(503, "busy");
  expect(await cli(["alert", "resend", "oncall", id], { code: 1 })).toMatch(/was not taken.*503.*busy.*again at/);
  receiver.answer(204);
  expect(await cli(["alert", "resend", "oncall", id])).toContain("delivered");
  for (const each of receiver.received.slice(1)) {
    expect(each.headers["webhook-id"]).toBe(id);
    expect(webhook.verify(each.body, each.headers)).toEqual(webhook.verify(message?.body ?? "", message?.headers ?? {}));
  }
  expect(receiver.received.length).toBeGreaterThanOrEqual(3);

  const other = secretIn(await cli(["alert", "rotate", "oncall"]));
  await cli(["alert", "test", "oncall"]);
  const newest = receiver.received.at(-1);
  for (const secret of [other, secretIn(made)]) expect(new Webhook(secret).verify(newest?.body ?? "", newest?.headers ?? {})).toMatchObject({ type: "test" });
  expect(await cli(["alert", "list"])).toMatch(/^ALERT.*\noncall +webhook +run\.failed +night\* +enabled +test delivered\n$/);
  expect(await cli(["alert", "delete", "oncall"])).toBe("Alert deleted, with its messages.\n");
  await cli(["alert", "get", "oncall"], { code: 1 });
});
