import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

const FILE = `
[[schedule]]
name = "nightly"
cron = "@yearly"
[schedule.eval]
env_id = "reverse-text"
model = "scripted"
api_base_url = "http://127.0.0.1:9/v1"
num_examples = 1

[[alert]]
name = "channel"
to = "webhook"
url_var = "CHANNEL_URL"
on = ["schedule.missed"]
`;

it("a file with a schedule and an alert is applied once, changes nothing the second time, and takes away what it no longer has", {
  timeout: 120_000,
}, async () => {
  const env = { CHANNEL_URL: `${receiver.url}/channel` };
  writeFileSync(join(place.folder, "schedules.toml"), FILE);
  const apply = ["schedule", "apply", "schedules.toml"];
  // What is wrong with the alert keeps the schedule from being made as well.
  await cli(apply, { code: 2 });
  expect(await cli([...apply, "--dry-run"], { env })).toMatch(/^\+ nightly: new, next \S+\n\+ alert channel: new\n$/);
  const made = await cli(apply, { env });
  expect(made).toMatch(/^\+ nightly: new, next \S+\n\+ alert channel: new\nAlert channel is new\.\n.*shown here and nowhere else:\n {2}whsec_/);
  expect(await cli(apply, { env })).toBe("= nightly: unchanged\n= alert channel: unchanged\n");
  await cli(["alert", "test", "channel"]);
  const newest = receiver.received.at(-1);
  expect(newest?.to).toBe("channel");
  expect(new Webhook(secretIn(made)).verify(newest?.body ?? "", newest?.headers ?? {})).toMatchObject({ type: "test" });
  writeFileSync(join(place.folder, "schedules.toml"), FILE.slice(0, FILE.indexOf("[[alert]]")));
  expect(await cli([...apply, "--prune"])).toMatch(/^= nightly: unchanged\n\? alert channel: .*left as it is/);
  writeFileSync(join(place.folder, "schedules.toml"), "schedule = []\nalert = []\n");
  expect(await cli([...apply, "--prune"])).toBe("- nightly: deleted, its runs stay\n- alert channel: deleted, with its messages\n");
});
