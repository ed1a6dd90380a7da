import type { SavedRows } from "../units/saved-rows.ts";
import type { StorageOutage } from "../units/storage-outage.ts";
import { UnitTimes, type Wall } from "../session/unit-times.ts";
import type { UnitsTicket } from "../units/units-ticket.ts";

/** A run that an executor works for. */
export interface Service {
  /** Of the executor's requests, those that the current grant takes; before it, those that were asked for. */
  requests: number;
  /** Requests of the run that count as one of them. */
  streams: number;
  /** It makes room for another run, and joins no more. */
  yielding: boolean;
  ticket: Pick<UnitsTicket, "holdings" | "stop" | "narrow"> | null;
  readonly saved: SavedRows;
  readonly outage: StorageOutage;
}

/** Requests it takes now: what a ticket has given back is free, however long the rest of it takes. */
const takenBy = ({ requests, streams, ticket }: Pick<Service, "requests" | "streams" | "ticket">): number =>
  ticket === null ? requests : Math.min(requests, Math.ceil(ticket.holdings.requests / streams));

/** Part of `free` of the run at this place among `runs`; the first ones take what cannot be divided. */
export const shareAt = (at: number, free: number, runs: number): number => Math.max(1, Math.floor(free / runs) + (at < free % runs ? 1 : 0));

/** The runs that one executor works for, and what each takes of it. */
export class Services<One extends Pick<Service, "requests" | "streams" | "yielding" | "ticket"> = Service> {
  readonly #all = new Map<string, One>();
  readonly #times = new Map<string, UnitTimes>();

  get size(): number {
    return this.#all.size;
  }

  get taken(): number {
    return [...this.#all.values()].reduce((sum, service) => sum + takenBy(service), 0);
  }

  /** As the Dispatcher is told. */
  get serving(): { readonly run: string; readonly requests: number }[] {
    return [...this.#all].map(([run, service]) => ({ run, requests: takenBy(service) }));
  }

  get isMakingRoom(): boolean {
    return [...this.#all.values()].some(({ yielding, ticket }) => yielding || ticket?.holdings.isFalling === true);
  }

  /** What units of a run took, over all its services: who is asked for it again knows. */
  timesOf(run: string): UnitTimes {
    const times = this.#times.get(run) ?? new UnitTimes();
    this.#times.set(run, times);
    return times;
  }

  /** Runs of which no further unit is expected to be done before the wall. */
  beyond(wall: Wall | null, now: number): string[] {
    return wall === null ? [] : [...this.#times].flatMap(([run, times]) => (times.fit(wall, now) ? [] : [run]));
  }

  put(run: string, service: One): void {
    this.#all.set(run, service);
  }

  delete(run: string): void {
    this.#all.delete(run);
  }

  stop(how: "drain" | "leave" | "abort"): void {
    for (const { ticket } of this.#all.values()) ticket?.stop(how);
  }

  /** Another run has nothing: this one gives half of its requests, its only one at the end of a unit, or of a turn that others go on from. Resolves when there is room, or will be at the end of the unit. */
  async makeRoom(run: string): Promise<void> {
    const service = this.#all.get(run);
    const ticket = service?.ticket;
    if (service === undefined || ticket === undefined || ticket === null) return;
    const { requests } = ticket.holdings.allowed;
    service.yielding = requests <= 1;
    if (service.yielding) ticket.stop("leave");
    else await ticket.narrow(Math.ceil(requests / 2));
  }
}
