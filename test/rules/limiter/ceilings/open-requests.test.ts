import { expect, it } from "vitest";
import { OpenRequests } from "../../../../durable-objects/limiter/ceilings/open-requests.ts";

it("what was open at refusals is told of an incident that does not end, however many there were", () => {
  const open = new OpenRequests(new Map([["other", 2]]));
  const said = new Map([["other", 2]]);
  open.refused("a", 50, said);
  for (let n = 0; n < 300_000; n++) open.refused("a", 7, said);
  expect([open.most, open.atLast, open.least]).toEqual([52, 9, 9]);
});

it("what is open of an executor counts that was refused nothing, and says so only once others were", () => {
  const open = new OpenRequests(new Map());
  open.refused("a", 10, new Map());
  open.heard("b", 16);
  open.heard("b", 14);
  expect(open.atLast).toBe(26);
});
