/**
 * Rules broken one at a time, as edits of the source. The simulator must find each; a pattern that no longer occurs exactly
 * once fails the test, so that a mutation cannot rot into a no-op.
 */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Schedule to begin with: one that finds it, where none of the first few does. When rules change it may find nothing, and the search goes on from there. */
  readonly first?: number;
  /** Only the full fleet can find it. */
  readonly fleet?: true;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "forget where in its target a merged segment begins",
    file: "durable-objects/run/course/merging.ts",
    find: "start: start - length,",
    replace: "start: 0,",
  },
  {
    name: "look for kept rollouts where they were before a merge",
    file: "durable-objects/run/grants/claims.ts",
    find: "return relocated(ledger, ledger.owedIn(range)).map(",
    replace: "return ledger.owedIn(range).map(",
    first: 32,
  },
  { name: "skip the epoch check", file: "durable-objects/run/grants/tickets.ts", find: "if (ticket?.epoch !== id.epoch) return null;", replace: "", first: 19 },
  { name: "keep the epoch on a new grant", file: "durable-objects/run/grants/tickets.ts", find: "head.epoch++;", replace: "head.epoch ||= 1;" },
  {
    name: "let a late beat revive",
    file: "durable-objects/run/grants/tickets.ts",
    find: "if (context.now >= ticket.lease_until) return null;",
    replace: "",
    first: 20,
  },
  {
    name: "let a late commit revive",
    file: "durable-objects/run/grants/commits.ts",
    find: "withoutRest(ticket, request));",
    replace: "{ ...withoutRest(ticket, request), lease_until: context.now + context.timing.lease });",
    first: 601,
  },
  {
    name: "count the lease from the answer to a commit",
    file: "src/executor/session/session.ts",
    find: "this.#takeRenewal(event.sentAt, event.answer, now, effects);",
    replace: "this.#takeRenewal(now, event.answer, now, effects);",
    first: 95,
  },
  {
    name: "count the lease from the answer to a claim",
    file: "src/executor/session/session.ts",
    find: "this.#takeClaim(event.sentAt, event.answer, now, effects);",
    replace: "this.#takeClaim(now, event.answer, now, effects);",
    first: 11,
  },
  {
    name: "claim without seq",
    file: "durable-objects/run/grants/claims.ts",
    find: "request.seq === ticket.seq ? ledger.lastAnswer(ticket.id) : null",
    replace: "null",
  },
  {
    name: "no release on leave",
    file: "durable-objects/run/grants/tickets.ts",
    find: "if (ticket !== null) endTicket(ledger, head, ticket);",
    replace: "if (ticket !== null) ledger.deleteTicket(ticket.id);",
  },
  {
    name: "send offers as deltas",
    file: "durable-objects/run/grants/offers.ts",
    find: "head.offer = { want, ",
    replace: "head.offer = { want: want - head.offer.want, ",
  },
  {
    name: "start a unit that may kill without saying so",
    file: "src/executor/session/session.ts",
    find: "if (wary) this.#beat(now, effects);",
    replace: "",
    first: 8,
  },
  {
    name: "let a unit that may kill begin beside others of its isolate",
    file: "src/executor/session/isolate.ts",
    find: "if (others.length === 0) return false;",
    replace: "if (others.length >= 0) return false;",
    first: 89,
  },
  {
    name: "let a lapse blame every claimed unit",
    file: "durable-objects/run/grants/suspects.ts",
    find: "const blamed = ticket.started;",
    replace: "const blamed = ledger.claimsOf(ticket.id).flatMap((c) => Array.from({ length: c.hi - c.lo }, (_, i) => c.lo + i));",
  },
  { name: "begin units that cannot be stored", file: "src/executor/session/session.ts", find: "if (this.#isTroubled || (", replace: "if ((" },
  {
    name: "keep slices short though the fleet does not grow",
    file: "durable-objects/dispatcher/fleet.ts",
    find: "Math.max(FIRST_SLICE_MS, 2 * (born - since))",
    replace: "FIRST_SLICE_MS",
    fleet: true,
  },
  {
    name: "give back requests that are still under way",
    file: "src/executor/session/holdings.ts",
    find: "const holds = this.#of(this.#reached);",
    replace: "const holds = this.#of(this.#allowed);",
    first: 40,
  },
  {
    name: "let a late call take again what was given back",
    file: "durable-objects/run/grants/tickets.ts",
    find: "return fell || before !== beside ? { ...rest, ...left, ...(beside === undefined ? {} : { beside }) } : ticket;",
    replace: "return { ...ticket, ...left, requests: holds?.requests ?? requests };",
    first: 48,
  },
  {
    name: "let one refusal end a run that has answers",
    file: "durable-objects/run/grants/health.ts",
    find: "if (head.health.answered !== true || !isRefusal(failure)) return failure;",
    replace: "return failure;",
    first: 125,
  },
  {
    name: "generate again what is only to be scored",
    file: "durable-objects/run/grants/claims.ts",
    find: 'keep: debts.flatMap((debt, index) => (debt === "rollout" ? [] : [index])),',
    replace: "keep: debts.flatMap((debt, index) => (debt === null ? [index] : [])),",
    first: 37,
  },
  {
    name: "work with other code than the grant names",
    file: "src/executor/grant-code.ts",
    find: "env_digest === undefined || env_digest === own",
    replace: "own !== undefined",
  },
  {
    name: "let an executor with other code go on",
    file: "durable-objects/run/grants/code-wait.ts",
    find: "head.env_digest === found",
    replace: "found !== null",
  },
  {
    name: "grant to executors that compare no digests",
    file: "durable-objects/run/grants/code.ts",
    find: "request.checks_code === true ||",
    replace: "request.protocol === 1 ||",
    first: 69,
  },
  {
    name: "complete while further inputs are being pinned",
    file: "durable-objects/run/course/lifecycle.ts",
    find: " && head.pinning !== true)",
    replace: ")",
  },
  {
    name: "complete before all was looked at that is to be repaired",
    file: "durable-objects/run/course/lifecycle.ts",
    find: " && head.repair === undefined",
    replace: "",
  },
  {
    name: "count a duplicate",
    file: "durable-objects/run/grants/commits.ts",
    find: 'if (before !== null && before.segment === segment) return "accepted";',
    replace: 'if (before !== null && before.segment === segment) {\n    head.totals = addUnit(head.totals, unit.rollouts);\n    return "accepted";\n  }',
  },
  {
    name: "let a scoring count whose grant has ended",
    file: "durable-objects/run/grants/commits.ts",
    find: 'if (!held) return "stale";',
    replace: "",
    first: 174,
  },
  {
    name: "hand a unit out without what is generated of it",
    file: "durable-objects/run/grants/claims.ts",
    find: "const pieces = ledger.piecesIn(range);",
    replace: "const pieces = ledger.piecesIn({ lo: 0, hi: 0 });",
  },
  {
    name: "forget what is generated when a grant ends",
    file: "durable-objects/run/grants/tickets.ts",
    find: "for (const claim of claims) returnUnits(ledger, head, claim);",
    replace: "for (const claim of claims) {\n    returnUnits(ledger, head, claim);\n    ledger.dropPieces([claim.lo]);\n  }",
  },
  {
    name: "leave what is generated behind in a resume",
    file: "durable-objects/run/course/resume.ts",
    find: "ledger.renewPieces(head.generation);",
    replace: "",
  },
  {
    name: "try to write the final files for ever",
    file: "durable-objects/run/course/lifecycle.ts",
    find: "(head.finalise.failed?.count ?? 0) >= FINALISINGS_TO_FAIL",
    replace: "(head.finalise.failed?.count ?? 0) === Infinity",
    first: 16,
  },
  {
    name: "sweep what grants since have committed",
    file: "durable-objects/run/course/orphans.ts",
    find: "return epoch <= this.#lastEpoch && !this.#kept.has(name);",
    replace: "return !this.#kept.has(name);",
    first: 10,
  },
  {
    name: "take a sweep that failed for one that is done",
    file: "durable-objects/run/course/sweep.ts",
    find: "if (failed) head.sweep_retry = ",
    replace: "if (failed) head.swept = true;\n  else if (failed) head.sweep_retry = ",
    first: 5,
  },
  {
    name: "leave a removal that failed",
    file: "durable-objects/run/course/sweep.ts",
    find: 'return outcome === "failed" ? cleanUpDelay(failures) : 0;',
    replace: 'return outcome === "failed" ? Number.POSITIVE_INFINITY : 0;',
  },
  {
    name: "begin units that are not expected to be done in time",
    file: "src/executor/session/session.ts",
    find: "&& !this.#pacing.fits(this.#holdings.allowed, now)",
    replace: "&& !this.#pacing.fits(this.#holdings.allowed, Number.NEGATIVE_INFINITY)",
    first: 39,
  },
  {
    name: "repeat what failed every quarter of a second",
    file: "src/executor/units/retry-waits.ts",
    find: "const doubled = 2 ** Math.min(before, 16);",
    replace: "const doubled = 1;",
    first: 11,
  },
  {
    name: "blame in full for a lapse among others",
    file: "durable-objects/run/grants/suspects.ts",
    find: "ticket.beside === true || fellSilentAmongOthers(ledger, head, ticket, context) ? AMONG_OTHERS : 1",
    replace: "ticket.beside === true ? AMONG_OTHERS : 1",
    first: 146,
  },
  {
    name: "drain a full executor instead of taking a part of it",
    file: "src/executor/hosting/services.ts",
    find: "else await ticket.narrow(Math.ceil(requests / 2));",
    replace: 'else ticket.stop("drain");',
    fleet: true,
  },
  {
    name: "sleep over lanes that became free during a look",
    file: "src/executor/rest.ts",
    find: "    if (this.#isWoken) end();\n",
    replace: "",
    fleet: true,
  },
  {
    name: "make room for runs that only want more",
    file: "durable-objects/dispatcher/offers.ts",
    find: "if (each.idle) this.#needy.put(each);",
    replace: "this.#needy.put(each);",
    fleet: true,
  },
  {
    name: "have every full executor make room for one run",
    file: "durable-objects/dispatcher/offers.ts",
    find: "if (needy.promised_at > 0 && now - needy.promised_at < PROMISE_MS) return null;",
    replace: "",
    fleet: true,
  },
  {
    name: "count the deadline of a unit from its beginning",
    file: "src/environments/unit-time.ts",
    find: "    this.#hasBegun = true;\n    this.beginAnew();",
    replace: "    this.#hasBegun = true;",
    first: 86,
  },
  {
    name: "repeat what failed without drawing the wait",
    file: "src/executor/units/retry-waits.ts",
    find: "RETRY_FIRST_MS * doubled) * this.#random();",
    replace: "RETRY_FIRST_MS * doubled);",
    first: 64,
  },
  {
    name: "end a run whose environment cannot be loaded now",
    file: "durable-objects/run/grants/load-wait.ts",
    find: "const most = isFirst ? FIRST_LOADINGS_TO_FAIL : LOADINGS_TO_FAIL;",
    replace: "const most = 1;",
  },
];
