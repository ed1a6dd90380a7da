import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Asked } from "../api/ask.ts";
import { isPassing, type Problem } from "../api/problem.ts";
import type { Visibility } from "./visibility.ts";

/** `paused`: nobody sees the page; `lost`: the service does not answer, and is asked again; `over`: it will not answer, or has said everything. */
export type Connection = "connecting" | "live" | "lost" | "paused" | "over";

export interface StreamPorts {
  /** Opens the stream after the last event that had an id; null at first. */
  open(lastId: string | null, signal: AbortSignal): Promise<Asked<Response>>;
  readonly visibility: Visibility;
  /** From 0 to 1. */
  random(): number;
}

export interface StreamListener {
  event(message: EventSourceMessage): void;
  connection(state: Connection, problem: Problem | null): void;
}

/** The service writes a comment each second: longer without a byte, and the connection is gone without having said so. */
const SILENCE_MS = 10_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const USUAL_RETRY_MS = 100;
/** Of one event; a longer one is not of this service. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/**
 * Server-sent events that mend themselves: comes back with the last id after every end, later each time nobody answers, and not at all while nobody looks.
 * A stream of the browser's own (`EventSource`) says neither why it was refused nor for which team it asks.
 */
export class EventStream {
  readonly #ports: StreamPorts;
  readonly #listener: StreamListener;
  #lastId: string | null = null;
  #retryMs = USUAL_RETRY_MS;
  #attempt: AbortController | null = null;
  #wake: (() => void) | null = null;
  #closed = false;

  constructor(ports: StreamPorts, listener: StreamListener) {
    this.#ports = ports;
    this.#listener = listener;
  }

  /** Resolves when the stream is closed, or over. */
  async follow(): Promise<void> {
    const unlisten = this.#ports.visibility.listen(() => {
      if (!this.#ports.visibility.isVisible()) this.#attempt?.abort();
      this.#wake?.();
    });
    try {
      for (let failures = 0; !this.#closed; ) {
        if (!this.#ports.visibility.isVisible()) {
          this.#say("paused");
          await this.#wait(null);
          continue;
        }
        const outcome = await this.#once(failures === 0);
        if (outcome === "over") return;
        if (outcome === "ended") failures = 0;
        else if (outcome === "lost") failures += 1;
        if (this.#closed || !this.#ports.visibility.isVisible()) continue;
        await this.#wait(failures === 0 ? this.#retryMs : this.#pause(failures));
      }
    } finally {
      unlisten();
    }
  }

  close(): void {
    this.#closed = true;
    this.#attempt?.abort();
    this.#wake?.();
  }

  /** One connection, to its end. `given-up`: by this side. */
  async #once(says: boolean): Promise<"ended" | "lost" | "over" | "given-up"> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    if (says) this.#say("connecting");
    const watch = new SilenceWatch(SILENCE_MS, () => attempt.abort());
    try {
      const opened = await this.#ports.open(this.#lastId, attempt.signal);
      if (!opened.ok) {
        const passing = isPassing(opened.problem);
        this.#say(passing ? "lost" : "over", opened.problem);
        return passing ? "lost" : "over";
      }
      this.#say("live");
      const isOver = await this.#read(opened.value, watch);
      if (isOver) this.#say("over");
      return isOver ? "over" : "ended";
    } catch {
      if (this.#closed || !this.#ports.visibility.isVisible()) return "given-up";
      this.#say("lost");
      return "lost";
    } finally {
      watch.end();
      this.#attempt = null;
    }
  }

  /** Whether the service said that nothing follows. */
  async #read({ body }: Response, watch: SilenceWatch): Promise<boolean> {
    let isOver = false;
    const parser = createParser({
      maxBufferSize: MOST_CHARACTERS,
      onEvent: (message) => {
        if (message.id !== undefined) this.#lastId = message.id;
        if (message.event === "end") isOver = true;
        this.#listener.event(message);
      },
      onRetry: (ms) => {
        this.#retryMs = ms;
      },
    });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      watch.heard();
      parser.feed(value);
    }
    return isOver;
  }

  /** Doubles with each failure, and nobody comes back at the same moment as everybody else. */
  #pause(failures: number): number {
    return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.5 + this.#ports.random() / 2);
  }

  /** `ms` null: until the page is seen, or the stream closed. */
  #wait(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #say(state: Connection, problem: Problem | null = null): void {
    if (!this.#closed) this.#listener.connection(state, problem);
  }
}

class SilenceWatch {
  readonly #ms: number;
  readonly #silent: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor(ms: number, silent: () => void) {
    this.#ms = ms;
    this.#silent = silent;
    this.heard();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#silent, this.#ms);
  }
  end(): void {
    clearTimeout(this.#timer);
  }
}
