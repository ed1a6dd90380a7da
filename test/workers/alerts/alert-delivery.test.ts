import { abortAllDurableObjects, createExecutionContext, createMessageBatch, waitOnExecutionContext } from "cloudflare:test";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AlertTask } from "../../../durable-objects/alert-book/alert-task.ts";
import { tellAlerts } from "../../../durable-objects/alert-book/tell-alerts.ts";
import { alertBookStub } from "../../../durable-objects/stubs.ts";
import { deliver } from "../../../src/alerting/deliver.ts";
import { postMessage } from "../../../src/alerting/post-message.ts";
import { takeMessages } from "../../../src/alerting/take-messages.ts";
import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import type { Env } from "../../../src/env.ts";
import { closeTeam, type Door, openTeam } from "../support/people.ts";
import { service, skip } from "../support/service.ts";

/** Alerts of a deployed service: the book in its real object, whoever delivers, and a receiver. */

const URL_ = "https://hooks.example/services/T000/B000/a-secret-path";

interface Got {
  readonly id: string | null;
  readonly body: string;
  readonly headers: Record<string, string>;
}
let door: Door;
let ada: string;
let sent: AlertTask[];
let got: Got[];
let answers: (() => Response | Promise<Response>)[];
const { ALERTS } = service;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
  sent = [];
  got = [];
  answers = [];
  Object.assign(service, { ALERTS: { send: async (task: AlertTask) => void sent.push(task) } });
});
afterEach(async () => {
  Object.assign(service, { ALERTS });
  await closeTeam();
});

const receiver = async (_url: string, init: RequestInit): Promise<Response> => {
  const headers = Object.fromEntries(new Headers(init.headers));
  got.push({ id: headers["webhook-id"] ?? null, body: String(init.body), headers });
  return (await answers.shift()?.()) ?? new Response("thanks");
};
/** Everything that whoever reads the queue would send now. */
const work = async (): Promise<void> => {
  for (const task of sent.splice(0)) if (task.delivery !== null) await deliver(service, task, receiver);
};
const later = async (ms: number): Promise<void> => {
  skip(ms);
  await book().poke();
  await work();
};
const book = () => {
  const stub = alertBookStub(service, "acme");
  if (stub === null) throw new Error("no alerts");
  return stub;
};
interface Put {
  readonly change: string;
  readonly fields: readonly string[];
  readonly secret?: string;
}
const put = (changes: object = {}, name = "oncall"): Promise<Put> => door.json<Put>(ada, "PUT", `/alerts/${name}`, { to: "webhook", url: URL_, ...changes });
interface Logged {
  readonly id: string;
  readonly state: string;
  readonly type: string;
  readonly tries: number;
  readonly attempts: readonly { readonly status: number | null; readonly problem: string | null; readonly body: string }[];
}
const log = async (name = "oncall"): Promise<readonly Logged[]> => (await door.json<{ data: Logged[] }>(ada, "GET", `/alerts/${name}/messages`)).data;

let events = 0;
const failed = (changes: Partial<Occurrence> = {}): Occurrence => ({
  id: `run/0000abcd/${++events}/failed`,
  type: "run.failed",
  at: Date.now(),
  names: ["nightly", "gsm8k"],
  subject: { run_id: "0000abcd" },
  text: "FAILED nightly: <no> key & no model",
  data: {},
  ...changes,
});
const tell = (...occurrences: Occurrence[]): Promise<void> => tellAlerts(service, "acme", occurrences);

describe("a message", () => {
  it("arrives once for what is told twice, signed, with a link to the run; also where the queue brings it twice and the objects are reset", async () => {
    const { secret = "" } = await put();
    const occurrence = failed();
    await tell(occurrence);
    await tell(occurrence);
    await abortAllDurableObjects();
    await tell(occurrence);
    expect(sent).toHaveLength(1);
    sent.push(...sent);
    await work();
    expect(got).toHaveLength(1);
    const [message] = got;
    expect(new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({
      type: "run.failed",
      data: { team: "acme", alert: "oncall", run_id: "0000abcd", link: "https://edgewise.example/dashboard/evaluations/0000abcd?team=acme" },
    });
    expect(await log()).toMatchObject([{ state: "delivered", tries: 1, attempts: [{ status: 200, problem: null, body: "thanks" }] }]);
  });

  it("is sent again with its id while a receiver answers 500, hangs, or moves away, until it is taken; what waits behind it follows", async () => {
    await put();
    answers = [
      () => new Response("no", { status: 500 }),
      () => Promise.reject(new Error("the connection to a-secret-path broke")),
      () => new Response("", { status: 302, headers: { location: "http://127.0.0.1/" } }),
    ];
    await tell(failed(), failed(), failed());
    await work();
    for (let tries = 0; tries < 12 && (await log()).some(({ state }) => state !== "delivered"); tries++) await later(10 * 60_000);
    const all = await log();
    expect(all.map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
    expect(new Set(got.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)));
    const problems = all.flatMap(({ attempts }) => attempts.map(({ problem }) => problem)).filter((problem) => problem !== null);
    expect(problems.sort()).toEqual([
      "https://hooks.example answered with status 302; redirects are not followed",
      "https://hooks.example answered with status 500",
      "no connection to https://hooks.example",
    ]);
    expect(JSON.stringify(all)).not.toContain("a-secret-path");
  });

  it("that whoever sent it never told of is sent again, and is given up a day after it was first sent", async () => {
    await put();
    await tell(failed());
    const [task] = sent.splice(0);
    expect(await book().begin(task?.delivery ?? "")).toMatchObject({ attempt: 1 });
    expect(await book().begin(task?.delivery ?? "")).toBeNull();
    answers = Array.from({ length: 40 }, () => () => new Response("no", { status: 503 }));
    for (let hours = 0; hours < 40 && (await log())[0]?.state === "waiting"; hours++) await later(3_600_000);
    const [message] = await log();
    expect(message?.state).toBe("failed");
    expect(new Set(got.map(({ id }) => id)).size).toBe(1);
    answers = [];
    await door.json(ada, "POST", `/alerts/oncall/messages/${message?.id}/resend`, {});
    await work();
    expect(await log()).toMatchObject([{ state: "delivered", tries: 1 }]);
    expect(got.at(-1)?.id).toBe(message?.id);
  });

  it("is no more sent to a receiver that says it is gone, until somebody puts the alert again", async () => {
    await put();
    answers = [() => new Response("", { status: 410 })];
    await tell(failed(), failed());
    await work();
    await later(3_600_000);
    expect(got.length).toBeLessThanOrEqual(2);
    await tell(failed());
    expect(sent).toEqual([]);
    expect((await door.json<{ data: { disabled: { reason: string } } }>(ada, "GET", "/alerts/oncall")).data.disabled.reason).toContain("gone");
    expect(await put()).toMatchObject({ change: "change", fields: ["disabled"] });
    await tell(failed());
    await work();
    expect((await log())[0]).toMatchObject({ state: "delivered" });
  });

  it("to one that hangs keeps no place of another one's: of the first few are under way, and one at a time once it did not take one", async () => {
    await put({}, "slow");
    await tell(...Array.from({ length: 9 }, () => failed()));
    const toSlow = sent.splice(0);
    expect(toSlow).toHaveLength(4);
    await put({ for: ["other"] }, "quick");
    await tell(failed({ names: ["other"] }));
    const [toQuick] = sent.splice(0);
    await deliver(service, toQuick as AlertTask, receiver);
    expect(await log("quick")).toMatchObject([{ state: "delivered" }]);
    answers = Array.from({ length: 20 }, () => () => new Response("", { status: 503 }));
    for (const task of toSlow) await deliver(service, task, receiver);
    sent.length = 0;
    skip(60_000);
    await book().poke();
    expect(sent.filter(({ delivery }) => delivery !== null)).toHaveLength(1);
  });
});

describe("whoever reads the queue", () => {
  it("waits for no receiver: messages of others in the batch, and those of the next one, arrive while one hangs, and its own when it answers", async () => {
    await put({ url: `${URL_}/slow`, for: ["slow"] }, "slow");
    await put({ for: ["other"] }, "quick");
    let answer: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ctx = createExecutionContext();
    const readQueue = (): void => {
      const messages = sent.splice(0).map((body, number) => ({ id: String(number), timestamp: new Date(), attempts: 1, body }));
      const batch = createMessageBatch<AlertTask>("alerts", messages);
      takeMessages(batch, service, ctx, (url, init) => (url.endsWith("/slow") ? hanging.then(() => new Response("late")) : receiver(url, init)));
    };
    for (const arrived of [1, 2]) {
      await tell(failed({ names: ["slow"] }), failed({ names: ["other"] }));
      expect(sent).toHaveLength(2);
      readQueue();
      await vi.waitFor(async () => expect((await log("quick")).filter(({ state }) => state === "delivered")).toHaveLength(arrived), { timeout: 10_000 });
    }
    expect((await log("slow")).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["waiting", []],
      ["waiting", []],
    ]);
    answer();
    await waitOnExecutionContext(ctx);
    expect((await log("slow")).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });
});

describe("what happens in a team", () => {
  it("is taken where nobody asked for it, and by a deployment that has no alerts", async () => {
    expect(await alertBookStub(service, "nobody")?.take({ team: "nobody", occurrences: [failed()] })).toEqual({ ok: true, value: { asked: false } });
    const { ALERT_BOOK: _, ...before } = service;
    await expect(tellAlerts(before as Env, "nobody", [failed()])).resolves.toBeUndefined();
  });

  it("is refused whole where one of it says too much, or is about nothing", async () => {
    await expect(tellAlerts(service, "nobody", [failed(), failed({ subject: {} })])).rejects.toThrow("subject: must name a run, a schedule or a monitor");
    await expect(tellAlerts(service, "nobody", [failed({ data: { much: "x".repeat(20_000) } })])).rejects.toThrow("at most 16384 characters as JSON");
  });
});

describe("what lasts", () => {
  const drift = (state: "on" | "off", changes: Partial<Occurrence> = {}): Occurrence =>
    failed({ id: `drift/${++events}`, type: "drift", condition: { key: "drift/nightly", state }, ...changes });

  it("alerts once, and once more when it ends", async () => {
    await put();
    for (const state of ["off", "on", "on", "on", "off", "off", "on"] as const) {
      skip(1_000);
      await tell(drift(state));
    }
    await work();
    expect(got.map(({ body }) => (JSON.parse(body) as { data: { state: string } }).data.state)).toEqual(["on", "off", "on"]);
  });

  it("is not told of its end to an alert that was made after it had begun", async () => {
    await put({ on: ["run.failed"] }, "other");
    await tell(drift("on"));
    skip(1_000);
    await put();
    skip(1_000);
    await tell(drift("off"));
    await work();
    expect(got).toEqual([]);
  });
});

describe("an alert", () => {
  it("is told what it asked for by type and name, and nothing else", async () => {
    await put({ on: ["run.failed"], for: ["night*", "train-*-eval"] });
    await tell(failed(), failed({ names: ["daily"] }), failed({ names: ["train-7-eval"] }), failed({ type: "run.completed" }));
    await work();
    expect(got).toHaveLength(2);
  });

  it("the same once more changes nothing, and its address is never shown again", async () => {
    expect(await put()).toMatchObject({ change: "add", secret: expect.stringMatching(/^whsec_/) });
    expect(await put()).toMatchObject({ change: "none", fields: [] });
    const again = await put({ on: ["drift"], url: undefined });
    expect(again).toMatchObject({ change: "change", fields: ["on"] });
    expect(again.secret).toBeUndefined();
    const all = await Promise.all(["/alerts", "/alerts/oncall", "/alerts/oncall/messages"].map(async (path) => (await door.call(ada, "GET", path)).text()));
    expect(all.join("")).not.toContain("hooks.example");
    expect(all.join("")).not.toContain("whsec_");
  });

  it("gets another secret, and is signed with both for a day", async () => {
    const { secret: first = "" } = await put();
    const { secret: second } = await door.json<{ secret: string }>(ada, "POST", "/alerts/oncall/rotate", {});
    await tell(failed());
    await work();
    for (const secret of [first, second]) expect(() => new Webhook(secret).verify(got[0]?.body ?? "", got[0]?.headers ?? {})).not.toThrow();
    skip(25 * 3_600_000);
    await tell(failed());
    await work();
    expect(got[1]?.headers["webhook-signature"]).toMatch(/^v1,\S+$/);
  });

  it.each([
    [{ url: "http://hooks.example/x" }, "https"],
    [{ url: "https://127.0.0.1/x" }, "public"],
    [{ url: "https://10.0.0.1.nip.io/x" }, "public"],
    [{ url: "https://metadata.google.internal/x" }, "public"],
    [{ url: "ftp://hooks.example/x" }, "url"],
    [{ url: undefined }, "url"],
    [{ on: ["run.finished"] }, "on"],
    [{ for: [] }, "for"],
    [{ to: "email", url: undefined, email: "a@example.com" }, "EMAIL"],
    [{ to: "pager" }, "to"],
    [{ colour: "red" }, "colour"],
  ])("%j is refused by the name of its field", async (changes, field) => {
    const answer = await door.call(ada, "PUT", "/alerts/oncall", { to: "webhook", url: URL_, ...changes });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(field);
    expect(await door.status(ada, "GET", "/alerts/oncall")).toBe(404);
  });

  it("calls no private address when it comes to it, whatever was stored", async () => {
    const posted = vi.fn();
    const attempt = await postMessage({ url: "https://10.0.0.1/x", headers: {}, body: "{}", hidden: [], refusal: "must be public" }, posted, Date.now);
    expect(attempt).toMatchObject({ status: null, problem: "https://10.0.0.1 is not called: must be public" });
    expect(posted).not.toHaveBeenCalled();
  });

  it("goes by email where the deployment sends it", async () => {
    const mails: { to: string; subject: string }[] = [];
    Object.assign(service, { ALERTS_FROM: "alerts@example.com", EMAIL: { send: async (mail: { to: string; subject: string }) => void mails.push(mail) } });
    try {
      await put({ to: "email", url: undefined, email: "team@example.com" });
      await tell(failed());
      await work();
      expect(mails).toMatchObject([{ to: "team@example.com", subject: expect.stringContaining("run.failed") }]);
      expect(await log()).toMatchObject([{ state: "delivered" }]);
    } finally {
      Object.assign(service, { ALERTS_FROM: undefined, EMAIL: undefined });
    }
  });
});
