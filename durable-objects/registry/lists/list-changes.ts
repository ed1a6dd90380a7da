import type { RunProjection } from "../registry-control.ts";

/**
 * Tells that the list of runs is another one: a run came or went, or stands elsewhere. In memory alone: an object that begins anew says something new, and
 * whoever asks looks again once too often.
 */
export class ListChanges {
  readonly #life = crypto.randomUUID();
  #changes = 0;

  note(): void {
    this.#changes += 1;
  }

  /** Another text after every change. */
  get text(): string {
    return `${this.#life}-${this.#changes}`;
  }
}

/** Of a stored run, as SQL: what changes seldom of what a list shows. Numbers, which change all the time, are told by the run itself. */
export const FACE = "json_array(projection ->> '$.status', active, projection ->> '$.paused', projection ->> '$.waiting', projection ->> '$.name')";

/** The same of a projection that comes. */
export const faceOf = ({ status, active, paused, waiting, name }: RunProjection): string =>
  JSON.stringify([status, active ? 1 : 0, paused ? 1 : null, waiting ? 1 : null, name]);
