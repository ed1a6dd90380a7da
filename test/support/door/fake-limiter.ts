import type { ExchangeAnswer, LimiterControl, LimiterView } from "../../../durable-objects/limiter/limiter-control.ts";
import type { Amounts } from "../../../src/endpoint-limits/limit-kinds.ts";

/** A Limiter that says what a test has it say, and keeps what it is told. */
export class FakeLimiter implements LimiterControl {
  /** What it shows; a failure = it does not answer. */
  shows: LimiterView | Error | null = null;
  /** Whom it was asked for. */
  readonly asked: (string | null)[] = [];
  readonly given: { readonly team: string | null; readonly limits: Amounts | null }[] = [];
  forgotten = 0;

  async exchange(): Promise<ExchangeAnswer> {
    throw new Error("no request is sent here");
  }
  async view(team: string | null): Promise<LimiterView | null> {
    this.asked.push(team);
    if (this.shows instanceof Error) throw this.shows;
    return this.shows;
  }
  async give(team: string | null, limits: Amounts | null): Promise<void> {
    if (this.shows instanceof Error) throw this.shows;
    this.given.push({ team, limits });
  }
  async forget(): Promise<void> {
    this.forgotten++;
  }
}
