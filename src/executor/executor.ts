import { type Grant, PROTOCOL } from "../../durable-objects/run/protocol.ts";
import type { NextAnswer, NextRequest } from "../../durable-objects/dispatcher/offers.ts";
import { timerOf } from "../clients/transport/timer.ts";
import { failureOf } from "../errors/result.ts";
import { wallOf } from "../config/plan/walls.ts";
import { asksForStream } from "../config/options/sampling.ts";
import { STREAMS_PER_CONNECTION } from "../limits.ts";
import { runName } from "../teams/team-name.ts";
import { briefly } from "./briefly.ts";
import { Endpoints } from "./endpoints/endpoints.ts";
import { EnvironmentLog, type EnvironmentLogHost } from "./hosting/environment-log.ts";
import { finaliseRun } from "./finalise.ts";
import { GrantEnvironments, type Loaded, type Said } from "./grant-environments.ts";
import { answeredBy, type BatchAnswers, batchAnswers } from "./batching/batch-answers.ts";
import { BatchTicket } from "./batching/batch-ticket.ts";
import { Beside, BESIDES, type CarryBatches } from "./beside.ts";
import { keepAlive, ticketOf } from "./keep-alive.ts";
import { Lifeline } from "./lifeline.ts";
import { RunNotes } from "./endpoints/notes.ts";
import type { ExecutorBudget, ExecutorPorts } from "./ports.ts";
import type { PrepareTask } from "./preparation/prepare.ts";
import { prepareTicket } from "./preparation/prepare-ticket.ts";
import { Rest } from "./rest.ts";
import { RetryWaits } from "./units/retry-waits.ts";
import { SavedRows } from "./units/saved-rows.ts";
import { type Service, Services, shareAt } from "./hosting/services.ts";
import { Slice } from "./slice.ts";
import { teamPorts } from "./team-ports.ts";
import { StorageOutage } from "./units/storage-outage.ts";
import type { TicketHost } from "./units/ticket-host.ts";
import { UnitsTicket } from "./units/units-ticket.ts";

/** Looks for work that found nothing before the executor ends; a queue message brings the next one. */
const IDLE_LOOKS = 2;
const AFTER_FAILURE_MS = 1_000;
/** An executor that ends says so when it has been silent for so long: one that says nothing for a minute is taken for gone. */
const SILENCE_MS = 30_000;
/** Joins in vain after which rows that could not be committed are given up: the run has other executors, or waits for somebody. */
const LOOKS_WITH_ROWS = 20;

/**
 * One executor: joins the runs that the Dispatcher names, works on what they grant, and ends when its slice is over or nothing is
 * left to do. Does not know its host: a queue consumer today, anything that can fetch tomorrow. Never rejects; a run that cannot
 * be served is logged and left to its lease.
 */
export class Executor {
  readonly #ports: ExecutorPorts;
  readonly #budget: ExecutorBudget;
  readonly #slice: Slice;
  readonly #endpoints: Endpoints;
  readonly #environments: GrantEnvironments;
  readonly #lifeline: Lifeline;
  readonly #services = new Services();
  readonly #beside: Beside;
  readonly #rest: Rest;
  readonly #stop = new AbortController();
  #refused: { run: string; seq: number }[] = [];
  #joins = 0;
  #stopAsking = false;

  constructor(ports: ExecutorPorts, budget: ExecutorBudget) {
    this.#ports = ports;
    this.#budget = budget;
    this.#slice = new Slice(budget, ports.now);
    this.#endpoints = new Endpoints(ports, this.#slice, budget);
    this.#environments = new GrantEnvironments(ports, this.#endpoints);
    this.#rest = new Rest(timerOf(ports.sleep));
    const carry: CarryBatches = (grant, signal) =>
      new BatchTicket({ ports: this.#portsOf(grant), budget, slice: this.#slice, endpoints: this.#endpoints, environments: this.#environments }, grant).run(
        signal,
      );
    this.#beside = new Beside(ports, this.#slice, this.#stop.signal, () => this.#rest.wake(), carry);
    this.#lifeline = new Lifeline(ports, () => this.#abandon());
  }

  async run(): Promise<void> {
    if (!(await this.#lifeline.begin())) return;
    const services: Promise<void>[] = [];
    let idle = 0;
    while (idle < IDLE_LOOKS && !this.#stop.signal.aborted && !this.#slice.isOver) {
      const answer = await this.#next();
      this.#slice.lanesWanted = answer.wanted > 0;
      if (answer.slice_ms !== undefined) this.#slice.lasts(answer.slice_ms);
      const free = this.#free();
      for (const [at, { run, seq, wall }] of answer.runs.entries()) services.push(this.#serve(run, seq, shareAt(at, free, answer.runs.length), wall));
      if (answer.needy === false) this.#services.keepRest();
      // Where nothing ends the executor its queue has no other, and every run that it has asked for all there was.
      if (answer.more !== undefined && this.#slice.wall !== null) this.#services.enlarge(answer.more, free, this.#slice.left);
      if (answer.yield !== null) void this.#services.makeRoom(answer.yield).then(() => this.#rest.wake());
      idle = this.#services.size > 0 || this.#beside.busy ? 0 : idle + 1;
      if (idle > 0 && idle < IDLE_LOOKS) await this.#ports.sleep(Math.min(200, this.#budget.poll));
      if (idle === 0) await new Promise<void>((resolve) => this.#rest.begin(this.#budget.poll, resolve));
    }
    await this.#finish(services);
    this.#lifeline.end();
    this.#ports.bytes.close();
    await Promise.all([this.#endpoints.leave(), this.#next({ leaving: true, free: 0 })]);
  }

  /** Open units finish, or are left at a turn that others can go on from; what the platform would cut in the middle is given up a little before, and goes back. */
  async #finish(services: readonly Promise<void>[]): Promise<void> {
    this.#stopAsking = true;
    this.#services.stop("leave");
    const finished = Promise.all(services).then(() => this.#beside.over());
    if (!Number.isFinite(this.#slice.wallLeft)) return void (await finished);
    const late = new AbortController();
    void this.#ports.sleep(SILENCE_MS, late.signal).then(
      () => this.#next({ finishing_ms: this.#slice.wallLeft, free: 0 }),
      () => undefined,
    );
    const wall = this.#ports.sleep(this.#slice.wallLeft, late.signal).then(
      () => {
        this.#services.stop("abort");
        this.#stop.abort(new Error("the invocation ends"));
      },
      () => undefined,
    );
    await finished;
    late.abort();
    await wall;
  }

  /** Streamed requests that count as one. */
  get #streams(): number {
    return this.#budget.connections === null ? 1 : STREAMS_PER_CONNECTION;
  }

  #free(): number {
    return Math.max(0, this.#budget.requests - this.#services.taken);
  }

  /** `changes`: this executor ends, and asks for nothing more. */
  async #next(changes: Pick<NextRequest, "leaving" | "finishing_ms"> & { readonly free?: 0 } = {}): Promise<NextAnswer> {
    const refused = this.#refused;
    this.#refused = [];
    this.#slice.spend();
    try {
      const asks = {
        executor: this.#ports.id,
        age_ms: this.#slice.age,
        free: this.#free(),
        serving: this.#services.serving,
        walls: this.#services.walls.taken,
        passes: this.#passes,
        refused,
      };
      return await this.#ports.dispatcher().next({ ...asks, ...changes, ...(this.#services.isMakingRoom ? { yielding: true } : {}) });
    } catch (thrown) {
      this.#refused.push(...refused);
      this.#ports.log(`dispatcher: ${failureOf(thrown).message}`);
      return { runs: [], yield: null, wanted: 0 };
    }
  }

  get #isAsking(): boolean {
    return !this.#stopAsking && !this.#stop.signal.aborted && !this.#slice.isOver;
  }

  /** Runs of which it would do no unit before its invocation ends: another does. Their offers stand. */
  get #passes(): string[] {
    return this.#services.beyond(this.#slice.wall, this.#ports.now());
  }

  /** Works for a run for as long as it grants: preparation, units, final files, in whatever order it needs them. */
  async #serve(runId: string, seq: number, free: number, wall: string | undefined): Promise<void> {
    // A Dispatcher that was told otherwise, or knows nothing of it: another executor has room.
    if (!this.#services.walls.has(wall)) return;
    const { local } = this.#ports;
    const notes = new RunNotes(this.#ports, runId);
    const outage = new StorageOutage(this.#ports, runId, (message) => notes.warning(message, message));
    const begun = { requests: free, asked: free, streams: 1, yielding: false, enlarging: false, ticket: null };
    const service: Service = { ...begun, wall, saved: new SavedRows(this.#ports.bytes), outage };
    this.#services.put(runId, service);
    const said = { notes, prints: this.#printsOf(notes) };
    const waits = new RetryWaits(this.#ports.random);
    try {
      for (let granted = 0, looks = 0; !service.yielding && this.#isAsking && !this.#passes.includes(runId); ) {
        try {
          const outcome = await this.#join(runId, this.#services.asks(service, this.#budget.requests), service, said);
          if (outcome === "worked") {
            granted++;
            looks = 0;
            waits.succeeded("join");
            continue;
          }
          if (granted === 0 || outcome === "refused") this.#refused.push({ run: runId, seq });
          if (outcome !== "none" || service.saved.isEmpty || ++looks > LOOKS_WITH_ROWS) return;
          await this.#ports.sleep(waits.after("join", null), this.#stop.signal).catch(() => undefined);
        } catch (thrown) {
          service.outage.failed("join", failureOf(thrown).message);
          // Whatever is wrong (storage, a full disk, a reset object) does not go away at once. Rows that are paid for are waited with; else
          // the lease or the next offer brings the run back, but that a local service has nobody else to give it to.
          if (service.saved.isEmpty && !local) return await this.#ports.sleep(AFTER_FAILURE_MS * (0.5 + this.#ports.random()));
          await this.#ports.sleep(waits.after("join", thrown), this.#stop.signal).catch(() => undefined);
        }
      }
    } catch (thrown) {
      this.#ports.log(`run ${runId}: ${failureOf(thrown).message}`);
    } finally {
      service.saved.clear();
      this.#services.delete(runId);
      this.#rest.wake();
    }
  }

  /** Asks the run for a grant and works under it. `refused`: it wants other code than this executor has. */
  async #join(runId: string, free: number, service: Service, said: Said): Promise<"worked" | "refused" | "none" | "over"> {
    const sentAt = this.#ports.now();
    this.#slice.spend();
    const answer = await this.#ports.run(runId).join({
      protocol: PROTOCOL,
      executor: this.#ports.id,
      seq: ++this.#joins,
      free,
      streams: this.#streams,
      boot: this.#ports.boot,
      runtime: this.#ports.runtime,
      checks_code: true,
      ...BESIDES,
      scores_only: true,
      rescores: true,
      steers: true,
    });
    service.outage.succeeded("join");
    if (answer.kind !== "grant") return answer.kind === "none" ? "none" : "over";
    if (answer.task.kind === "adopt" || answer.task.kind === "merge" || answer.task.kind === "intake") {
      this.#beside.begin(answer, answer.task);
      return "worked";
    }
    if (answer.task.kind !== "finalise" && !this.#takesWall(service, wallOf(answer.config))) {
      await this.#portsOf(answer).run(answer.config.run_id).leave(ticketOf(answer));
      return "over";
    }
    if (answer.task.kind === "batch") {
      this.#beside.begin(answer, answer.task);
      return "worked";
    }
    const { notes, prints } = said;
    service.streams = asksForStream(answer.config.sampling_args) ? this.#streams : 1;
    service.requests = Math.ceil(answer.requests / service.streams);
    notes.ticket = ticketOf(answer);
    notes.verbose = answer.config.verbose === true;
    prints.verbose = notes.verbose;
    if (!(await this.#work(answer, sentAt, service, said))) return "refused";
    service.requests = free;
    return "worked";
  }

  /** False where the run needs an isolate beside as many as one executor may have: it was offered without a word of it. */
  #takesWall(service: Service, wall: string | undefined): boolean {
    if (service.wall !== wall && !this.#services.walls.has(wall)) return false;
    service.wall = wall;
    return true;
  }

  /** False when the run wants other code than this executor has. */
  async #work(grant: Grant, sentAt: number, service: Service, said: Said): Promise<boolean> {
    const runId = grant.config.run_id;
    const { task } = grant;
    if (task.kind === "finalise") {
      const ports = this.#portsOf(grant);
      await keepAlive(ports, runId, grant, this.#stop.signal, async (signal) => {
        await this.#environments.removeLastSandboxes(grant, said.notes);
        await finaliseRun(ports, grant, task, signal, this.#slice);
      });
      return true;
    }
    if (task.kind === "prepare") return this.#prepare(grant, task, said);
    return this.#environments.within(grant, said, (loaded) => this.#runUnits(grant, loaded.renewedAt ?? sentAt, service, said.notes, loaded));
  }

  /** Of the run's team: whatever is done under a grant is done with these. */
  readonly #portsOf = (grant: Grant): ExecutorPorts => teamPorts(this.#ports, grant.config);

  #printsOf(notes: RunNotes): EnvironmentLog {
    const { sleep, log } = this.#ports;
    const send: EnvironmentLogHost["send"] = (lines) => {
      this.#slice.spend();
      return notes.environment(lines);
    };
    return new EnvironmentLog({ send, sleep, log });
  }

  /** Until the examples are pinned, or the run is open: then the others are read beside its units. False as `#work`. */
  async #prepare(grant: Grant, task: PrepareTask, said: Said): Promise<boolean> {
    const opened = Promise.withResolvers<"open">();
    const onOpen = (): void => opened.resolve("open");
    const known = { ports: this.#portsOf(grant), grant, task, prints: said.prints, stop: this.#stop.signal, onOpen };
    const work = this.#environments.within(grant, said, (loaded) => prepareTicket({ ...known, ...loaded }));
    if (task.beside === true) onOpen();
    const outcome = await Promise.race([work, opened.promise]);
    if (outcome !== "open") return outcome;
    this.#beside.follow(grant.config.run_id, work);
    return true;
  }

  async #runUnits(grant: Grant, sentAt: number, service: Service, notes: RunNotes, loaded: Loaded): Promise<void> {
    const batched = batchAnswers(grant, this.#portsOf(grant), this.#slice);
    const opened = await this.#open(grant, notes, loaded, batched);
    if (opened === null) return;
    const { end, secrets: _, renewedAt: __, ...rest } = loaded;
    const beforeLeave = async (): Promise<void> => {
      await briefly(this.#ports, end());
      await this.#endpoints.settle();
    };
    const noteFirst: TicketHost["noteFirst"] = (first, message) => notes.error(first, message);
    const note: TicketHost["note"] = (level, message) => (level === "INFO" ? notes.info(message) : notes.warning(message, message));
    const host = {
      ports: this.#portsOf(grant),
      budget: this.#budget,
      slice: this.#slice,
      ...rest,
      noteFirst,
      note,
      beforeLeave,
      ...opened,
      ...answeredBy(batched, opened),
    };
    const seat = this.#ports.isolate.seat(grant.lease_ms);
    const room = (): number => this.#services.roomOf(service, this.#budget.requests);
    const known = { seat, room, saved: service.saved, outage: service.outage, times: this.#services.timesOf(runName(grant.config)) };
    const ticket = new UnitsTicket({ ...host, ...known }, grant, sentAt);
    service.ticket = ticket;
    try {
      await ticket.run();
    } finally {
      service.ticket = null;
      seat.leave();
      opened.close();
      batched?.close();
    }
    if (ticket.pauseMs !== null) await this.#ports.sleep(ticket.pauseMs, this.#stop.signal).catch(() => undefined);
  }

  async #open(grant: Grant, notes: RunNotes, { secrets, cache }: Pick<Loaded, "secrets" | "cache">, batched: BatchAnswers | undefined) {
    try {
      return await this.#endpoints.open(grant, notes, secrets, cache, batched);
    } catch (thrown) {
      const run = () => this.#portsOf(grant).run(grant.config.run_id);
      await run().fail({ ...ticketOf(grant), failure: failureOf(thrown) });
      await run().leave(ticketOf(grant));
      return null;
    }
  }

  /** The process that started the local service is gone: nobody wants these answers any more. */
  #abandon(): void {
    this.#ports.log("the process that started this service is gone; executors stop");
    this.#stop.abort(new Error("the parent process is gone"));
    this.#services.stop("abort");
    this.#rest.wake();
  }
}
