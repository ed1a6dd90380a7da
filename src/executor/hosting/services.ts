import type { SavedRows } from "../units/saved-rows.ts";
import type { StorageOutage } from "../units/storage-outage.ts";
import { Walls } from "../../config/plan/walls.ts";
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
  /** Of the executor's requests, those that the newest join was for. */
  asked: number;
  /** Its ticket ends so that it asks for all that is free by then. */
  enlarging: boolean;
  ticket: Pick<UnitsTicket, "holdings" | "stop" | "narrow" | "keep"> | null;
  /** The isolate that its environment needs; absent = none of its own. */
  wall?: string | undefined;
  readonly saved: SavedRows;
  readonly outage: StorageOutage;
}

/** Requests it takes now: what a ticket has given back is free, however long the rest of it takes. */
const takenBy = ({ requests, streams, ticket }: Pick<Service, "requests" | "streams" | "ticket">): number =>
  ticket === null ? requests : Math.ceil(ticket.holdings.requests / streams);

/** What it costs to ask for a larger grant, in mean unit times of all lanes that it has: they become idle one after the other. Twice what they lose on average. */
const ENLARGING_UNITS = 1;

/** Part of `free` of the run at this place among `runs`; the first ones take what cannot be divided. */
export const shareAt = (at: number, free: number, runs: number): number => Math.max(1, Math.floor(free / runs) + (at < free % runs ? 1 : 0));

/** The runs that one executor works for, and what each takes of it. */
export class Services<One extends Pick<Service, "requests" | "streams" | "yielding" | "asked" | "enlarging" | "ticket" | "wall"> = Service> {
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

  /** Isolates of all services: those that it has, or is about to have. */
  get walls(): Walls {
    return new Walls([...this.#all.values()].flatMap(({ wall }) => wall ?? []));
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

  /** No run has nothing any more: what was to be given and is not free yet stays. */
  keepRest(): void {
    for (const { ticket } of this.#all.values()) if (ticket?.holdings.isFalling === true) ticket.keep();
  }

  /**
   * The run wants more than it has here, and nobody else wants what is free: its grant ends and it asks for all there is, where the rest of the slice
   * (milliseconds) is worth the lanes that are idle meanwhile. Not where it would be given no more than before.
   */
  enlarge(run: string, free: number, left: number): void {
    const service = this.#all.get(run);
    const times = this.#times.get(run);
    if (service === undefined || service.ticket === null || service.yielding || times?.areKnown !== true || this.isMakingRoom) return;
    const requests = takenBy(service);
    if (requests + free <= service.asked || free * left <= ENLARGING_UNITS * requests * times.mean) return;
    service.enlarging = true;
    service.ticket.stop("drain");
  }

  /** What the next join of the run is for, of all requests of the executor: as many as the one before, or all that others leave where it is to have more. */
  asks(service: One, all: number): number {
    const room = this.#roomFor(service, all);
    if (service.enlarging) service.asked = Math.max(service.asked, room);
    service.enlarging = false;
    return Math.max(1, Math.min(service.asked, room));
  }

  /** Requests of the run that its ticket may have, of all requests of the executor: what others leave. */
  roomOf(service: One, all: number): number {
    return this.#roomFor(service, all) * service.streams;
  }

  #roomFor(service: One, all: number): number {
    return all - (this.taken - takenBy(service));
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
