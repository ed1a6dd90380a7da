import type { AnswerDeskControl, AnswerStats, DeskAnswer } from "../../../durable-objects/answers/answer-desk-control.ts";

const NOTHING: AnswerStats = { answers: 0, bytes: 0, oldest_at: null, newest_at: null, expires_at: null, claims: 0 };

/** A desk that has what a test says, and remembers what it was told to clear. */
export class FakeDesk implements AnswerDeskControl {
  known: AnswerStats = NOTHING;
  readonly cleared: (readonly [before: number | null, model: string | null])[] = [];

  async ask(): Promise<DeskAnswer> {
    return { kind: "refused", message: "a door asks no questions" };
  }
  async stats(): Promise<AnswerStats> {
    return this.known;
  }
  async clear(before: number | null, model: string | null): Promise<Pick<AnswerStats, "answers" | "bytes">> {
    this.cleared.push([before, model]);
    const { answers, bytes } = this.known;
    this.known = NOTHING;
    return { answers, bytes };
  }
}
