import type { CommitUnit, GivesBack, Grant, Report } from "../../../durable-objects/run/protocol.ts";
import { segmentKey, segmentName } from "../../../r2-layout/keys.ts";
import { SegmentBuffer, type SegmentContents } from "../../../r2-layout/segment.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { HeldBytes } from "../isolate-bytes.ts";
import { ticketOf } from "../keep-alive.ts";
import type { LoosePiece, SessionEvent } from "../session/session-events.ts";
import type { RolloutKeeper } from "./rollout-keeper.ts";
import type { FinishedUnit } from "./saved-rows.ts";
import type { TicketHost } from "./ticket-host.ts";

const NOTHING: SegmentContents = { bytes: new Uint8Array(0), units: [], pieces: [], rows: 0 };
/** Between two looks for room in the buffer. Milliseconds. */
const LOOK_MS = 20;

/** The rows of one grant from when they are finished until they are committed: in the buffer or waiting for room in it, and in segments that are on their way. */
export class OutgoingRows {
  readonly #host: Pick<TicketHost, "ports" | "saved">;
  readonly #grant: Grant;
  readonly #keeper: RolloutKeeper;
  readonly #feed: (event: SessionEvent) => void;
  readonly #buffer = new SegmentBuffer();
  /** Of units that are finished and not committed. */
  readonly #facts = new Map<number, FinishedUnit>();
  /** Rows that wait for room in the buffer. */
  readonly #waiting = new Map<number, readonly string[]>();
  readonly #segments = new Map<number, SegmentContents>();
  /** What kept rollouts take in segments on their way: the room of a unit is for its rows. */
  readonly #pieces = new Map<number, HeldBytes>();

  constructor(host: Pick<TicketHost, "ports" | "saved">, grant: Grant, keeper: RolloutKeeper, feed: (event: SessionEvent) => void) {
    this.#host = host;
    this.#grant = grant;
    this.#keeper = keeper;
    this.#feed = feed;
  }

  /** Bytes of the buffer and of segments on their way. */
  get bytes(): number {
    let bytes = this.#buffer.capacity;
    for (const contents of this.#segments.values()) bytes += contents.bytes.byteLength;
    return bytes;
  }

  get isFull(): boolean {
    return this.#buffer.isFull;
  }

  /** Sends what is buffered on its way, if there is anything. */
  flush(): void {
    if (!this.#buffer.isEmpty) this.#feed({ type: "flush" });
  }

  /** Resolves when the rows are in the buffer: those that do not fit beside what is there send that on its way first. */
  async add(unit: number, finished: FinishedUnit, lines: readonly string[], signal: AbortSignal): Promise<void> {
    this.#facts.set(unit, finished);
    if (this.#buffer.add(unit, lines)) return;
    this.#feed({ type: "flush" });
    // At most two segments are on their way at once; the third waits here, holding one unit's rows.
    this.#waiting.set(unit, lines);
    while (!this.#buffer.add(unit, lines)) {
      await this.#host.ports.sleep(LOOK_MS, signal);
      this.#feed({ type: "flush" });
    }
    this.#waiting.delete(unit);
  }

  async store(n: number, pieces: readonly LoosePiece[], turns: boolean): Promise<SessionEvent> {
    const contents = this.#segments.get(n) ?? this.#pack(pieces, turns);
    // Rollouts that cannot be kept.
    if (contents === null) return { type: "stored", n };
    if (!this.#segments.has(n)) this.#pieces.set(n, this.#host.ports.bytes.add(contents.pieces.reduce((sum, { length }) => sum + length, 0)));
    this.#segments.set(n, contents);
    const { config, ticket, epoch } = this.#grant;
    const stored = await this.#host.ports.store.create(segmentKey(config.run_id, segmentName(ticket, epoch, n)), contents.bytes);
    if (stored === "other") throw new EdgewiseError("internal", "a segment of this grant holds other rows");
    return { type: "stored", n };
  }

  #pack(pieces: readonly LoosePiece[], turns: boolean): SegmentContents | null {
    const left = this.#keeper.moveInto(this.#buffer, pieces, turns);
    const contents = this.#buffer.take();
    for (const piece of left) this.#feed({ type: "rollouts-left", ...piece });
    return contents;
  }

  /** `told`: what the call says beside its rows. */
  async commit(n: number, told: GivesBack & Report): Promise<SessionEvent> {
    const { ports } = this.#host;
    const sentAt = ports.now();
    const contents = this.#segments.get(n) ?? NOTHING;
    const { config, ticket, epoch } = this.#grant;
    const units = contents.units.map((place): CommitUnit => {
      const { summaries = [], unscored, firstScoredAnew, scoresChanged } = this.#facts.get(place.unit) ?? {};
      const anew = {
        ...(firstScoredAnew === undefined ? {} : { scored_anew: firstScoredAnew }),
        ...(scoresChanged === undefined ? {} : { scores_changed: scoresChanged }),
      };
      return { ...place, rollouts: summaries, ...(unscored === undefined ? {} : { unscored }), ...anew };
    });
    const answer = await ports.run(config.run_id).commit({
      ...ticketOf(this.#grant),
      ...told,
      segment: segmentName(ticket, epoch, n),
      units: JSON.stringify(units),
      ...(contents.pieces.length === 0 ? {} : { pieces: JSON.stringify(contents.pieces) }),
    });
    return { type: "committed", n, sentAt, answer };
  }

  /** The segment is committed, by the answer that counts: one that came too late must leave the rows to the attempt after it. Returns its units. */
  committed(n: number): readonly number[] {
    const units = (this.#segments.get(n)?.units ?? []).map(({ unit }) => unit);
    for (const unit of units) this.#facts.delete(unit);
    this.#segments.delete(n);
    this.#release(n);
    return units;
  }

  #release(n: number): void {
    this.#pieces.get(n)?.release();
    this.#pieces.delete(n);
  }

  /** What is finished and could not be committed under this grant is kept for the next one. */
  save(): void {
    const { saved } = this.#host;
    const buffered = this.#buffer.take();
    for (const contents of [...this.#segments.values(), ...(buffered === null ? [] : [buffered])]) saved.keepSegment(contents, this.#facts);
    this.#keeper.saveInto(saved, this.#segments.values());
    for (const [unit, lines] of this.#waiting) {
      const facts = this.#facts.get(unit);
      if (facts !== undefined) saved.keep(unit, facts, lines);
    }
    for (const n of [...this.#pieces.keys()]) this.#release(n);
  }
}
