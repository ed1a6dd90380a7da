import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Asked } from "../../../src/dashboard/api/ask.ts";
import { type Problem, UNREACHABLE } from "../../../src/dashboard/api/problem.ts";
import { EventStream } from "../../../src/dashboard/live/event-stream.ts";

/** A service whose streams are written by hand, and a page that may be hidden. */
class Place {
  readonly opened: { readonly lastId: string | null; readonly signal: AbortSignal }[] = [];
  readonly said: string[] = [];
  readonly events: string[] = [];
  answer: () => Asked<Response> = () => ({ ok: true, value: this.streaming() });
  #writer: WritableStreamDefaultWriter<Uint8Array> | null = null;
  #visible = true;
  #changed: () => void = () => undefined;

  readonly stream = new EventStream(
    {
      open: async (lastId, signal) => {
        this.opened.push({ lastId, signal });
        signal.addEventListener("abort", () => void this.#writer?.abort(new Error("aborted")).catch(() => undefined));
        return this.answer();
      },
      visibility: {
        isVisible: () => this.#visible,
        listen: (changed) => {
          this.#changed = changed;
          return () => undefined;
        },
      },
      random: () => 1,
    },
    {
      event: ({ event, data }) => this.events.push(`${event} ${data}`),
      connection: (state, problem) => this.said.push(problem === null ? state : `${state}: ${problem.kind}`),
    },
  );

  streaming(): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    return new Response(readable);
  }
  async write(text: string): Promise<void> {
    await this.#writer?.write(new TextEncoder().encode(text));
    await settle();
  }
  async end(): Promise<void> {
    await this.#writer?.close();
    await settle();
  }
  async cut(): Promise<void> {
    await this.#writer?.abort(new Error("connection reset"));
    await settle();
  }
  async show(visible: boolean): Promise<void> {
    this.#visible = visible;
    this.#changed();
    await settle();
  }
}

/** Lets everything happen that waits for no clock. */
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const refused = (status: number, kind: Problem["kind"]): Asked<Response> => ({ ok: false, problem: { ...UNREACHABLE, kind, status } });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a stream of events", () => {
  it("comes back after its end with the last id, and is over when the service says so", async () => {
    const place = new Place();
    const followed = place.stream.follow();
    await settle();
    await place.write("retry: 50\n\nid: 7\nevent: log\ndata: a\n\n");
    await place.end();
    expect(place.opened).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(50);
    await place.write("event: end\ndata: {}\n\n");
    await place.end();
    await followed;
    expect(place.opened.map(({ lastId }) => lastId)).toEqual([null, "7"]);
    expect(place.events).toEqual(["log a", "end {}"]);
    expect(place.said).toEqual(["connecting", "live", "connecting", "live", "over"]);
  });

  it("that breaks is lost until it is mended, with longer and longer pauses", async () => {
    const place = new Place();
    void place.stream.follow();
    await settle();
    place.answer = () => refused(0, "unreachable");
    await place.cut();
    expect(place.said.at(-1)).toBe("lost");
    const times: number[] = [];
    for (let at = 0; at < 30_000; at += 50) {
      const before = place.opened.length;
      await vi.advanceTimersByTimeAsync(50);
      if (place.opened.length > before) times.push(at);
    }
    expect(times.map((time, n) => Math.round((time - (times[n - 1] ?? 0)) / 100))).toEqual([2, 5, 10, 20, 40, 80, 100]);
    place.answer = () => ({ ok: true, value: place.streaming() });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(place.said.at(-1)).toBe("live");
    place.stream.close();
  });

  it("that says nothing for ten seconds is lost, though nobody closed it", async () => {
    const place = new Place();
    void place.stream.follow();
    await settle();
    await vi.advanceTimersByTimeAsync(9_000);
    await place.write(":\n\n");
    await vi.advanceTimersByTimeAsync(9_000);
    expect(place.said.at(-1)).toBe("live");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(place.said.at(-1)).toBe("lost");
    place.stream.close();
  });

  it("of a page that nobody sees has no connection, and goes on when it is seen", async () => {
    const place = new Place();
    void place.stream.follow();
    await settle();
    await place.write("id: 3\nevent: log\ndata: a\n\n");
    await place.show(false);
    expect(place.opened[0]?.signal.aborted).toBe(true);
    expect(place.said.at(-1)).toBe("paused");
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(place.opened).toHaveLength(1);
    await place.show(true);
    expect(place.opened.map(({ lastId }) => lastId)).toEqual([null, "3"]);
    expect(place.said).not.toContain("lost");
    place.stream.close();
  });

  it.each([
    [401, "signed-out"],
    [404, "refused"],
  ] as const)("is over where the service says no (%i)", async (status, kind) => {
    const place = new Place();
    place.answer = () => refused(status, kind);
    await place.stream.follow();
    expect(place.said).toEqual(["connecting", `over: ${kind}`]);
  });

  it("that is closed says nothing more", async () => {
    const place = new Place();
    const followed = place.stream.follow();
    await settle();
    place.stream.close();
    await followed;
    expect(place.said).toEqual(["connecting", "live"]);
  });
});
