import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Api } from "../../../../src/dashboard/api/ask.ts";
import { RunStore } from "../../../../src/dashboard/pages/run/run-store.ts";
import { runObject, stateObject } from "../../../support/door/run-object.ts";

const VIEWER = { version: "1", user: "u", team: "default", teams: [], csrf: "", via: "", folders: "" } as const;

/** A service of one run whose stream is written by hand. */
class Place {
  readonly asked: string[] = [];
  run: object | null = runObject({});
  isDown = false;
  #writer: WritableStreamDefaultWriter<Uint8Array> | null = null;
  readonly api = new Api(VIEWER, async (url) => {
    this.asked.push(url);
    if (this.isDown) throw new TypeError("connection refused");
    if (url.includes("/evaluation-states")) return this.#streaming();
    const gone = { detail: "No such evaluation.", code: "not_found" };
    return this.run === null ? Response.json(gone, { status: 404 }) : Response.json(this.run);
  });
  readonly store = new RunStore(this.api, { isVisible: () => true, listen: () => () => undefined }, "0000abcd");

  #streaming(): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    return new Response(readable);
  }
  async tell(event: string, data: object): Promise<void> {
    await this.#writer?.write(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    await settle();
  }
  get looks(): number {
    return this.asked.filter((url) => url.endsWith("/evaluations/0000abcd")).length;
  }
}
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await vi.advanceTimersByTimeAsync(0);
};

let place: Place;
beforeEach(() => {
  vi.useFakeTimers();
  place = new Place();
});
afterEach(() => {
  place.store.close();
  vi.useRealTimers();
});

describe("a run that is looked at", () => {
  it("is as its events say, and keeps what they do not say", async () => {
    place.run = { ...runObject({ paused: { at: 1 } as never }), tags: ["nightly"] };
    await place.store.refresh();
    await settle();
    expect(place.store.run.value?.edgewise.paused).toEqual({ at: 1 });
    await place.tell("state", stateObject({ units: { total: 2, done: 1, open: 1, pending: 0 } }));
    const run = place.store.run.value;
    expect([run?.edgewise.done_rollouts, run?.edgewise.paused, run?.tags, run?.metadata.env_id]).toEqual([2, undefined, ["nightly"], "gsm8k"]);
    expect(run?.edgewise.settings).toBeDefined();
    expect(place.looks).toBe(1);
  });

  it("is asked for whole when it comes to rest, since events do not say what a resume would do", async () => {
    await place.store.refresh();
    await settle();
    const settled = { phase: "settled", status: "CANCELLED" } as const;
    place.run = runObject(settled);
    await place.tell("state", stateObject(settled));
    expect(place.looks).toBe(2);
    expect(place.store.run.value?.edgewise.resumable).toEqual({ rollouts: 4, scores: 0 });
  });

  it("that waits to be resumed says what a resume would do, though its events come after it was looked at", async () => {
    await place.store.refresh();
    await settle();
    place.run = runObject({ suspended: true });
    await place.store.refresh();
    await place.tell("state", stateObject({ suspended: true }));
    expect(place.store.run.value?.edgewise.resumable).toEqual({ rollouts: 4, scores: 0 });
    place.run = runObject({});
    await place.tell("state", stateObject({}));
    expect(place.store.run.value?.edgewise.resumable).toBeUndefined();
  });

  it("is not followed once it is over, and looked at now and then, since another may resume or delete it; often only while it is pushed to the Hub", async () => {
    place.run = runObject({ phase: "settled", status: "COMPLETED", hub_push: { status: "pushing", dataset: "a/b" } });
    await place.store.refresh();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([place.looks, place.asked.length]).toEqual([2, 2]);
    place.run = runObject({ phase: "settled", status: "COMPLETED" });
    await vi.advanceTimersByTimeAsync(34_000);
    expect([place.looks, place.asked.length]).toEqual([3, 3]);
    place.run = runObject({});
    await vi.advanceTimersByTimeAsync(2_000);
    expect([place.looks, place.store.run.value?.status]).toEqual([4, "RUNNING"]);
    expect(place.asked.length).toBe(5);
  });

  it("stays shown while the service does not answer, and is asked for until it does", async () => {
    await place.store.refresh();
    place.isDown = true;
    await place.store.refresh();
    expect([place.store.problem.value?.kind, place.store.run.value?.evaluation_id]).toEqual(["unreachable", "0000abcd"]);
    place.isDown = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.store.problem.value).toBeNull();
  });

  it("is gone when it was there, and is not when it never was; neither is asked for again", async () => {
    await place.store.refresh();
    place.run = null;
    await place.store.refresh();
    expect(place.store.isGone.value).toBe(true);
    const other = new Place();
    other.run = null;
    await other.store.refresh();
    expect([other.store.isGone.value, other.store.problem.value?.status]).toEqual([false, 404]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([place.looks, other.looks]).toEqual([2, 1]);
    other.store.close();
  });
});
