import { coversCode } from "../../src/config/env-digest.ts";
import { countDebts, debtsOfTotals } from "../../durable-objects/run/course/owed.ts";
import { pointersFrom } from "../../durable-objects/run/course/sorting.ts";
import type { RunContext } from "../../durable-objects/run/state/context.ts";
import { isBeside, isIdle, wanted } from "../../durable-objects/run/grants/offers.ts";
import type { RunHead } from "../../durable-objects/run/state/head.ts";
import { isPoisoned, LAPSES_ALONE_TO_POISON, LAPSES_TO_SUSPECT } from "../../durable-objects/run/grants/suspects.ts";
import { isInfrastructureError } from "../../src/errors/codes.ts";
import { addUnit, emptyTotals } from "../../src/metrics/totals.ts";
import type { PermutedPart } from "../../src/pinned-order.ts";
import type { MemoryLedger } from "../support/run/memory-ledger.ts";
import { lostPieces, misplaced } from "./world/merging.ts";
import type { Scene } from "./world/scene.ts";

export function broken(message: string): never {
  throw new Error(`invariant: ${message}`);
}

/** What must hold after every transaction of a Run, whatever happened before. */
export function checkRun(world: Scene, ledger: MemoryLedger, context: RunContext): void {
  const head = ledger.head();
  if (head === null) broken("the head is gone");
  checkGrants(world, ledger);
  checkPaused(world, ledger, head);
  checkTotals(ledger, head);
  const astray = misplaced(world, ledger);
  if (astray !== null) broken(astray);
  const lost = lostPieces(world, ledger);
  if (lost !== null) broken(lost);
  const debts = debtsOfTotals(head, ledger.config());
  if (debts !== null && JSON.stringify(debts) !== JSON.stringify(countDebts(ledger))) broken("what a resume owes is not what the totals say");
  checkUnits(ledger, head);
  if (head.phase === "finalising") checkOrder(ledger, head);
  checkSpans(ledger);
  if (world.plan.whole && (ledger.spans.byUnit().size > 0 || ledger.keptRollouts() > 0))
    broken("units that are played in one piece are divided, or kept in pieces");
  checkAnswers(world, ledger);
  checkRepairs(world, head);
  checkScorings(world, ledger);
  checkPieces(world, ledger);
  checkPoison(world, ledger);
  checkBlame(world, ledger);
  checkLeases(world, ledger, context.now);
  checkCode(world, ledger, head);
  if (head.offer.want !== wanted(ledger, head, context)) broken(`offer of ${head.offer.want} lanes, ${wanted(ledger, head, context)} are wanted`);
  if ((head.offer.idle ?? false) !== isIdle(ledger, head.offer.want)) broken("the offer does not say whether anybody works for the run");
  if (head.phase === "settled" && ledger.ticketRows.size > 0) broken("settled with a live ticket");
}

/** The final file has every done example once, where its rows are, in the order of the data set. */
function checkOrder(ledger: MemoryLedger, head: RunHead): void {
  const order = ledger.order.get();
  checkParts(ledger, head, order.parts);
  const places = new Map([...ledger.placesFrom(0)].map((place) => [place.unit, place]));
  const pointers = [...pointersFrom(ledger, head, 0)];
  if (pointers.length !== places.size) broken(`the final file has ${pointers.length} of ${places.size} examples`);
  let last = -1;
  for (const { unit: rank, segment, offset, length } of pointers) {
    const place = places.get(order.positionOf(rank));
    if (rank <= last) broken(`example ${rank} follows example ${last} in the final file`);
    if (place?.segment !== segment || place.offset !== offset || place.length !== length) broken(`the final file has other rows for example ${rank}`);
    last = rank;
  }
}

/** Executors permute all that they pin here: what is of no part would be taken for the example of another place. */
function checkParts(ledger: MemoryLedger, { n }: RunHead, parts: readonly PermutedPart[]): void {
  const permuted = ledger.config().order_seed !== undefined;
  let end = 0;
  for (const { lo, hi } of parts) {
    if (!permuted || lo !== end || hi <= lo) broken(`examples ${lo} to ${hi} are permuted, those before up to ${end}`);
    end = hi;
  }
  if (permuted && end !== (n ?? 0)) broken(`examples up to ${end} of ${n} are known to be permuted`);
}

/** No unit under two live epochs; nothing claimed by a grant that has ended; requests within the limit. */
function checkGrants(world: Scene, ledger: MemoryLedger): void {
  const tickets = ledger.tickets();
  const epochs = new Set<number>();
  let requests = 0;
  for (const ticket of tickets) {
    if (epochs.has(ticket.epoch)) broken("two live tickets share an epoch");
    epochs.add(ticket.epoch);
    requests += ticket.requests;
    const allowance = `${ticket.epoch}/${ticket.allows?.size ?? 0}`;
    if (ticket.requests > (world.granted.get(allowance) ?? ticket.requests)) broken("a grant has got back what others may have");
    world.granted.set(allowance, ticket.requests);
    const known = world.epochs.get(ticket.epoch);
    if (known !== undefined && known !== ticket.executor) broken("an epoch was granted twice");
    world.epochs.set(ticket.epoch, ticket.executor);
  }
  const limit = ledger.config().max_concurrent;
  // A limit that was set below what is under way is reached as that ends, and nothing is added before.
  if (limit > 0 && requests > Math.max(limit, world.counted)) broken(`tickets carry ${requests} requests, the limit is ${limit}`);
  world.counted = requests;
  const { max_concurrent_generation: generation = 0, num_workers = Number.POSITIVE_INFINITY } = ledger.config();
  const generating = tickets.reduce((sum, ticket) => sum + (ticket.generation ?? (ticket.steers === true ? ticket.requests : 0)), 0);
  if (generation > 0 && generating > Math.max(generation, world.generating)) broken(`tickets may generate ${generating} at once, the limit is ${generation}`);
  world.generating = generating;
  const working = tickets.filter((ticket) => !isBeside(ticket)).length;
  if (working > num_workers) broken(`${working} executors share a run for ${num_workers}`);
  let end = -1;
  for (const claim of [...ledger.claims.values()].sort((a, b) => a.lo - b.lo)) {
    if (claim.lo < end) broken(`unit ${claim.lo} is claimed twice`);
    end = claim.hi;
    if (!tickets.some((ticket) => ticket.id === claim.ticket && ticket.epoch === claim.epoch))
      broken(`units ${claim.lo}.. are claimed by a grant that has ended`);
  }
}

/** Of a run that is paused nobody gets units, and it does not end by its time. */
function checkPaused(world: Scene, ledger: MemoryLedger, { paused, epoch }: RunHead): void {
  world.pausedAfter = paused === undefined ? null : (world.pausedAfter ?? epoch);
  const { pausedAfter } = world;
  if (pausedAfter === null) return;
  if (ledger.tickets().some((ticket) => ticket.task.kind === "units" && ticket.epoch > pausedAfter)) broken("units of a run that is paused are granted");
}

/** An executor has no more under way than the Run counts for its grant. */
export function checkHeld(world: Scene, epoch: number, requests: number): void {
  const ticket = world.run.ledger.tickets().find((each) => each.epoch === epoch);
  if (ticket !== undefined && requests > ticket.requests) broken(`a grant may have ${requests} requests under way, the Run counts ${ticket.requests}`);
}

/** Of a unit that is divided each rollout is with one live grant at most, its claim is with one of those, and nobody has what is kept. */
function checkSpans(ledger: MemoryLedger): void {
  for (const [unit, spans] of ledger.spans.byUnit()) {
    let end = 0;
    for (const { lo, hi, ticket, epoch } of spans) {
      if (lo < end || hi <= lo) broken(`rollout ${lo} of unit ${unit} is with two`);
      end = hi;
      if (ledger.ticket(ticket)?.epoch !== epoch) broken(`rollouts ${lo}.. of unit ${unit} are with a grant that has ended`);
      const kept = new Set(ledger.piecesIn({ lo: unit, hi: unit + 1 }).flatMap(({ rollouts }) => rollouts));
      if (Array.from({ length: hi - lo }, (_, at) => lo + at).every((rollout) => kept.has(rollout))) broken(`a span of unit ${unit} is kept, and not over`);
    }
    const claims = ledger.claimsIn({ lo: unit, hi: unit + 1 });
    if (claims.length !== 1 || !spans.some(({ ticket }) => ticket === claims[0]?.ticket))
      broken(`unit ${unit} is divided, and claimed by none who has some of it`);
    if (new Set(spans.map(({ ticket }) => ticket)).size < spans.length) broken(`two spans of unit ${unit} are with one grant`);
  }
}

function checkTotals(ledger: MemoryLedger, head: RunHead): void {
  let expected = emptyTotals();
  for (const done of ledger.dones.values())
    expected = addUnit(
      expected,
      done.rollouts.filter((rollout) => rollout !== null),
    );
  const { rollouts, reward_sum, errors } = head.totals;
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  const failedExpected = Object.values(expected.errors).reduce((sum, count) => sum + count, 0);
  if (rollouts !== expected.rollouts || reward_sum !== expected.reward_sum || failed !== failedExpected) {
    broken(`totals say ${rollouts} rollouts with reward ${reward_sum}, the done units ${expected.rollouts} with ${expected.reward_sum}`);
  }
}

/** Every unit is in exactly one place: done, pending (tail, returned, waiting suspect) or claimed. */
function checkUnits(ledger: MemoryLedger, head: RunHead): void {
  const n = head.n ?? 0;
  const place = new Array<string | null>(n).fill(null);
  const put = (unit: number, where: string): void => {
    if (place[unit] !== null) broken(`unit ${unit} is ${place[unit]} and ${where}`);
    place[unit] = where;
  };
  let pending = 0;
  let done = 0;
  for (const row of ledger.dones.values()) {
    if (row.owed) continue;
    put(row.unit, "done");
    done++;
  }
  for (const range of ledger.returned.values()) {
    for (let unit = range.lo; unit < range.hi; unit++, pending++) put(unit, "returned");
  }
  for (let unit = head.cursor; unit < n; unit++, pending++) put(unit, "untouched");
  for (const suspect of ledger.waitingSuspects()) {
    put(suspect.unit, "waiting as suspect");
    pending++;
  }
  for (const claim of ledger.claims.values()) {
    for (let unit = claim.lo; unit < claim.hi; unit++) if (place[unit] !== "done") put(unit, "claimed");
  }
  const lost = place.indexOf(null);
  if (lost !== -1) broken(`unit ${lost} is nowhere`);
  if (pending !== head.pending) broken(`pending is ${head.pending}, counted ${pending}`);
  if (done !== head.done) broken(`done is ${head.done}, counted ${done}`);
}

/** An answer of the model that is done is drawn again only where infrastructure ended it: scoring it anew leaves it alone. */
function checkAnswers(world: Scene, ledger: MemoryLedger): void {
  for (const { unit, rollouts } of ledger.dones.values()) {
    for (const [index, rollout] of rollouts.entries()) {
      if (rollout === null) continue;
      const key = `${unit}/${index}`;
      const before = world.answers.get(key) ?? rollout;
      const drawn = before.input_tokens !== rollout.input_tokens;
      if (drawn && (before.error === null || !isInfrastructureError(before.error)))
        broken(`rollout ${key}, which ended with ${before.error}, was generated again`);
      world.answers.set(key, rollout);
    }
  }
}

/** Of each unit one scoring counts: its rows stay those of the segment that was accepted first, until a repair owes it another. */
function checkScorings({ scored }: Scene, ledger: MemoryLedger): void {
  for (const { unit, segment, owed } of ledger.dones.values()) {
    if (owed) scored.delete(unit);
    else if (segment !== (scored.get(unit) ?? segment)) broken(`unit ${unit} was scored in ${scored.get(unit)}, and ${segment} counts`);
    else scored.set(unit, segment);
  }
}

/** A generated rollout stays, and stays the same, from the commit that kept it until its unit is done; then it is the unit's. */
function checkPieces(world: Scene, ledger: MemoryLedger): void {
  const live = new Set<string>();
  const standing = new Map<string, number>();
  for (const { unit, segment, rollouts, begun = [] } of ledger.piecesIn({ lo: 0, hi: Number.POSITIVE_INFINITY })) {
    for (const rollout of rollouts) {
      const key = `${unit}/${rollout}`;
      if (live.has(key)) broken(`rollout ${key} is kept twice`);
      live.add(key);
      const said = world.standings.get(`${segment}/${key}`)?.said;
      if (said === undefined || said === null) broken(`rollout ${key} is said to be kept where it is not`);
      if (said.input_tokens !== (world.kept.get(key) ?? said).input_tokens) broken(`rollout ${key} was kept, and is another now`);
      world.kept.set(key, said);
    }
    for (const rollout of begun) {
      const key = `${unit}/${rollout}`;
      if (standing.has(key)) broken(`rollout ${key} stands in two places`);
      standing.set(key, world.standings.get(`${segment}/${key}`)?.turns ?? broken(`rollout ${key} is said to stand where it does not`));
    }
  }
  checkTurns(world, ledger, live, standing);
  for (const [key, { input_tokens: answer }] of world.kept) {
    const [unit = 0, rollout = 0] = key.split("/").map(Number);
    const done = ledger.done(unit);
    if (done === null || done.owed) {
      if (!live.has(key)) broken(`rollout ${key} was kept, and is lost`);
      continue;
    }
    world.kept.delete(key);
    const row = done.rollouts[rollout];
    if (row?.input_tokens !== answer && row?.error !== "poisoned") broken(`rollout ${key}, which was kept, was generated again`);
  }
}

/** What is kept of a rollout between two turns stays, or becomes more, until it is generated or its unit is done. */
function checkTurns(world: Scene, ledger: MemoryLedger, live: ReadonlySet<string>, standing: ReadonlyMap<string, number>): void {
  for (const key of standing.keys()) if (live.has(key)) broken(`rollout ${key} is generated, and stands between two turns`);
  for (const [key, turns] of world.turnsKept) {
    const done = ledger.done(Number(key.split("/")[0]));
    const now = standing.get(key);
    if (live.has(key) || (done !== null && !done.owed)) world.turnsKept.delete(key);
    else if (now === undefined) broken(`rollout ${key} stood at turn ${turns}, and that is lost`);
    else if (now < turns) broken(`rollout ${key} stood at turn ${turns}, and stands at ${now} now`);
  }
  for (const [key, turns] of standing) world.turnsKept.set(key, turns);
}

/** A run that was resumed is complete when all that infrastructure had ended was drawn again. */
function checkRepairs(world: Scene, { generation, status, stopped }: RunHead): void {
  if (generation !== world.repairs.generation) {
    const owed = [...world.answers].filter(([, { error }]) => error !== null && isInfrastructureError(error));
    world.repairs = { generation, owed: new Map(owed.map(([key, { input_tokens }]) => [key, input_tokens])) };
  }
  // One that stopped early owes nothing more.
  if (status !== "COMPLETED" || stopped !== undefined) return;
  for (const [key, answer] of world.repairs.owed) {
    const now = world.answers.get(key);
    if (now?.error !== "poisoned" && now?.input_tokens === answer) broken(`the run is complete, and rollout ${key} was not drawn again`);
  }
}

/** Nothing is held against a unit that no silent executor had begun. */
function checkBlame(world: Scene, ledger: MemoryLedger): void {
  for (const suspect of ledger.suspects.values()) {
    const silences = world.silences.filter((each) => each.unit === suspect.unit).length;
    if (suspect.lapses + suspect.alone > silences)
      broken(`unit ${suspect.unit} is blamed for ${suspect.lapses + suspect.alone} lapses, it was begun in ${silences}`);
  }
}

/** A lease that has ended stays ended. */
function checkLeases(world: Scene, ledger: MemoryLedger, now: number): void {
  for (const { epoch, lease_until } of ledger.tickets()) {
    const before = world.leases.get(epoch);
    if (before !== undefined && lease_until > before && now >= before) broken("a lease that had ended was renewed");
    world.leases.set(epoch, lease_until);
  }
}

/** No rows of several versions of the code side by side, unless somebody took that and they are marked. */
function checkCode(world: Scene, ledger: MemoryLedger, head: RunHead): void {
  const first = head.env_digests?.[0] ?? head.env_digest;
  for (const { unit, rollouts } of ledger.dones.values()) {
    for (const rollout of rollouts) {
      const said = rollout?.env_digest ?? first;
      // A digest of the kind before says nothing of the code.
      if (rollout === null || said === null || !coversCode(said)) continue;
      const made = world.codes[rollout.metrics.version ?? -1];
      if (said !== made) broken(`a row of unit ${unit} counts as of code ${said}, ${made} made it`);
      if (rollout.env_digest !== undefined && head.env_digests === undefined) broken(`unit ${unit} is marked, though nobody took other code`);
    }
  }
}

/** A unit is given up only after it was begun in five executors that fell silent, in three of them alone. */
function checkPoison(world: Scene, ledger: MemoryLedger): void {
  for (const suspect of ledger.suspects.values()) {
    if (!isPoisoned(suspect)) continue;
    const silences = world.silences.filter((each) => each.unit === suspect.unit);
    const alone = silences.filter((each) => each.alone).length;
    // The first ones made it suspect, and of the others those with something else open in the isolate count half.
    const counted = alone + (silences.length - alone - LAPSES_TO_SUSPECT) / 2;
    if (silences.length < LAPSES_TO_SUSPECT + LAPSES_ALONE_TO_POISON || Math.min(counted, silences.length - LAPSES_TO_SUSPECT) < LAPSES_ALONE_TO_POISON) {
      broken(`unit ${suspect.unit} is given up after ${silences.length} silences, ${alone} of them alone`);
    }
  }
}

/** Whatever was renewed by what and answered when: the work of a grant is over so long before the Run ends its lease. */
export function checkFence(world: Scene, epoch: number, margin: number): void {
  const ends = world.leases.get(epoch);
  if (ends !== undefined && world.run.context().now > ends - margin) broken("an executor works on in the margin of its lease");
}
