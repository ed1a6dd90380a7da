import { describe, expect, it } from "vitest";
import { RankedHeap } from "../../../durable-objects/dispatcher/ranked-heap.ts";
import { OfferBook, type OfferMessage, PROMISE_MS } from "../../../durable-objects/dispatcher/offers.ts";

const NOW = 1_000_000;

const request = { executor: "e", free: 5, serving: [], refused: [] };
const named = (book: OfferBook, free: number): string[] => book.next({ ...request, free }, NOW).runs.map(({ run }) => run);

/** Wake-ups that an offer leads to, where an executor carries `requests`. */
function wakeUps(message: Partial<OfferMessage>, requests: number): number {
  const book = new OfferBook();
  book.offer({ run: "r", want: 32, weight: 1, seq: 1, ...message }, NOW);
  return book.nudge(requests, NOW)[0]?.count ?? 0;
}

describe("an offer of lanes", () => {
  it("wakes as many executors as the lanes need", () => {
    expect([wakeUps({}, 5), wakeUps({}, 4_096)]).toEqual([7, 1]);
  });

  it("wakes as many as the run wants to share them, and never more than there are lanes", () => {
    expect([wakeUps({ executors: 3 }, 4_096), wakeUps({ executors: 20 }, 5), wakeUps({ executors: 250, want: 8 }, 5)]).toEqual([3, 20, 8]);
  });

  it("wakes at most a hundred at a time", () => {
    expect(wakeUps({ want: 1_000, executors: 250 }, 5)).toBe(100);
  });
});

describe("an executor that asks for runs", () => {
  it("is named two where it carries five requests, and all that stand where it carries thousands", () => {
    const book = new OfferBook();
    for (const run of ["a", "b", "c", "d"]) book.offer({ run, want: 9, weight: 1, seq: 1 }, NOW);
    expect([named(book, 5), named(book, 5), named(book, 1), named(book, 4_096)]).toEqual([["a", "b"], ["c", "d"], ["a"], ["b", "c", "d", "a"]]);
  });

  it("is named the least served first; who comes, or comes again, is level with those and not before them", () => {
    const book = new OfferBook();
    book.offer({ run: "a", want: 9, weight: 1, seq: 1 }, NOW);
    book.offer({ run: "c", want: 9, weight: 1, seq: 1 }, NOW);
    for (let turn = 0; turn < 6; turn++) named(book, 4);
    book.offer({ run: "c", want: 0, weight: 1, seq: 2 }, NOW);
    for (let turn = 0; turn < 6; turn++) named(book, 4);
    book.offer({ run: "b", want: 9, weight: 1, seq: 1 }, NOW);
    book.offer({ run: "c", want: 9, weight: 1, seq: 3 }, NOW);
    expect([named(book, 3), named(book, 3), named(book, 3), named(book, 3)]).toEqual([["a"], ["b"], ["c"], ["a"]]);
  });
});

describe("an executor that has too little time left for the units of a run", () => {
  it("is not named those that it passes by, and makes no room for them", () => {
    const book = new OfferBook();
    for (const run of ["a", "b"]) book.offer({ run, want: 9, weight: 1, seq: 1, idle: true }, NOW);
    expect(book.next({ ...request, passes: ["a"] }, NOW).runs.map(({ run }) => run)).toEqual(["b"]);
    // It stands for others.
    expect(named(book, 1)).toEqual(["a"]);
    const full = { ...request, free: 0, serving: [{ run: "c", requests: 5 }] };
    expect(book.next({ ...full, passes: ["a", "b"] }, NOW).yield).toBeNull();
    expect(book.next(full, NOW).yield).toBe("c");
  });
});

describe("an executor that has isolates of environments", () => {
  const four = ["w1", "w2", "w3", "w4"];
  const offers = (book: OfferBook, walls: readonly (string | undefined)[], idle = false): void => {
    for (const [at, wall] of walls.entries()) book.offer({ run: `r${at}`, want: 9, weight: 1, seq: 1, idle, ...(wall === undefined ? {} : { wall }) }, NOW);
  };

  it("is named runs that need four different ones, and every run beside that needs one of these or none", () => {
    const book = new OfferBook();
    offers(book, [...four, "w5", "w1", undefined]);
    const { runs } = book.next({ ...request, free: 4_096 }, NOW);
    expect(runs.map(({ run, wall }) => [run, wall])).toEqual([
      ["r0", "w1"],
      ["r1", "w2"],
      ["r2", "w3"],
      ["r3", "w4"],
      ["r5", "w1"],
      ["r6", undefined],
    ]);
    // The fifth stands for others.
    expect(named(book, 1)).toEqual(["r4"]);
  });

  it("is named no fifth beside those that it says it has, and the next run in its place", () => {
    const book = new OfferBook();
    offers(book, ["w5", "w3", undefined]);
    expect(book.next({ ...request, free: 6, walls: four }, NOW).runs.map(({ run }) => run)).toEqual(["r1", "r2"]);
    expect(book.next({ ...request, free: 6, walls: four.slice(1) }, NOW).runs.map(({ run }) => run)).toEqual(["r0", "r1"]);
  });

  it("makes no room for a run whose isolate it could not have, and does for the next that has nothing", () => {
    const full = { ...request, free: 0, serving: [{ run: "a", requests: 4 }], walls: four };
    const book = new OfferBook();
    offers(book, ["w5"], true);
    expect(book.next(full, NOW).yield).toBeNull();
    expect(book.next({ ...full, walls: ["w1"] }, NOW).yield).toBe("a");
    const both = new OfferBook();
    offers(both, ["w5", undefined], true);
    expect(both.next(full, NOW).yield).toBe("a");
    // It was made for the second: whoever could take the first is told as well.
    expect(both.next({ ...full, serving: [{ run: "b", requests: 2 }], walls: [] }, NOW).yield).toBe("b");
  });
});

describe("an executor that is full", () => {
  const full = {
    ...request,
    free: 0,
    serving: [
      { run: "a", requests: 2 },
      { run: "b", requests: 3 },
    ],
  };

  it("makes room for a run that has nothing, of what it has most of, and for no other", () => {
    const book = new OfferBook();
    book.offer({ run: "c", want: 9, weight: 1, seq: 1 }, NOW);
    expect(book.next(full, NOW).yield).toBeNull();
    book.offer({ run: "c", want: 9, weight: 1, seq: 2, idle: true }, NOW);
    expect(book.next({ ...full, yielding: true }, NOW).yield).toBeNull();
    expect(book.next(full, NOW).yield).toBe("b");
    // Nobody else, until that has had its time.
    expect([book.next(full, NOW + PROMISE_MS - 1).yield, book.next(full, NOW + PROMISE_MS).yield]).toEqual([null, "b"]);
    book.offer({ run: "c", want: 4, weight: 1, seq: 3 }, NOW);
    expect(book.next(full, NOW + 9 * PROMISE_MS).yield).toBeNull();
  });

  it("is named a run that has nothing before all others once it has room", () => {
    const book = new OfferBook();
    for (const run of ["a", "b"]) book.offer({ run, want: 9, weight: 1, seq: 1 }, NOW);
    book.offer({ run: "c", want: 9, weight: 1, seq: 1, idle: true }, NOW);
    expect(named(book, 5)).toEqual(["c", "a"]);
  });
});

describe("an executor that has lanes free", () => {
  const serving = [
    { run: "a", requests: 2 },
    { run: "b", requests: 2 },
  ];

  it("is told of a run it serves that wants more only where no other does, and of none that it passes by", () => {
    const book = new OfferBook();
    for (const run of ["a", "b", "c"]) book.offer({ run, want: 9, weight: 1, seq: 1 }, NOW);
    const asks = { ...request, free: 1, serving };
    expect(book.next(asks, NOW)).toMatchObject({ runs: [{ run: "c" }] });
    expect(book.next(asks, NOW).more).toBeUndefined();
    book.offer({ run: "c", want: 0, weight: 1, seq: 2 }, NOW);
    expect([book.next(asks, NOW).more, book.next({ ...asks, passes: ["a"] }, NOW).more, book.next({ ...asks, passes: ["a", "b"] }, NOW).more]).toEqual([
      "a",
      "b",
      undefined,
    ]);
  });

  it("is told whether any run has nothing, and one that ends is named none", () => {
    const book = new OfferBook();
    book.offer({ run: "a", want: 9, weight: 1, idle: true, seq: 1 }, NOW);
    const full = { ...request, free: 0, serving };
    expect([book.next(full, NOW).needy, book.next({ ...full, finishing_ms: 1_000 }, NOW)]).toEqual([true, { runs: [], wanted: 9, yield: null }]);
    book.offer({ run: "a", want: 8, weight: 1, seq: 2 }, NOW);
    expect(book.next(full, NOW).needy).toBe(false);
  });
});

describe("a ranked heap", () => {
  it("keeps the order of a sorted list through every change of rank, and every leave", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const members = Array.from({ length: 60 }, (_, id) => ({ id, rank: 0, in: false }));
    const before = (a: { id: number; rank: number }, b: { id: number; rank: number }): boolean => a.rank < b.rank || (a.rank === b.rank && a.id < b.id);
    const heap = new RankedHeap<(typeof members)[number]>(before);
    for (let step = 0; step < 3_000; step++) {
      const member = members[random(members.length)];
      if (member === undefined) continue;
      member.in = random(3) > 0;
      if (member.in) {
        heap.remove(member);
        member.rank = random(20);
        heap.put(member);
      } else heap.remove(member);
      const sorted = members.filter((each) => each.in).sort((a, b) => (before(a, b) ? -1 : 1));
      expect([heap.first, heap.size]).toEqual([sorted[0], sorted.length]);
      if (step % 100 === 0) expect([...heap.inOrder()]).toEqual(sorted);
    }
  });

  it("compares some dozens of members for a look at the first, however many there are", () => {
    let compared = 0;
    const heap = new RankedHeap<{ rank: number }>((a, b) => {
      compared++;
      return a.rank < b.rank;
    });
    for (let index = 0; index < 20_000; index++) heap.put({ rank: (index * 7_919) % 20_000 });
    compared = 0;
    const [first, second] = heap.inOrder();
    expect([first?.rank, second?.rank]).toEqual([0, 1]);
    if (first !== undefined) {
      heap.remove(first);
      heap.put({ rank: 30_000 });
    }
    expect(compared).toBeLessThan(100);
  });
});
