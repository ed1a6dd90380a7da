import { describe, expect, it } from "vitest";
import { type Service, Services } from "../../../src/executor/hosting/services.ts";

const REQUESTS = 5;
type Served = Pick<Service, "requests" | "streams" | "yielding" | "asked" | "enlarging" | "ticket">;

/** An executor of five requests with a grant of so many of them, of a run whose units take a second; and what its ticket was told. */
function serving(granted: number, asked: number) {
  const services = new Services<Served>();
  const told: string[] = [];
  const holdings = { allowed: { lanes: granted, requests: granted }, requests: granted, isFalling: false, isHeld: false };
  const ticket = { holdings, stop: (how: string) => void told.push(how), narrow: async () => undefined, keep: () => void told.push("keep") };
  const service: Served = { requests: granted, asked, streams: 1, yielding: false, enlarging: false, ticket };
  services.put("a", service);
  services.timesOf("a").took(1_000);
  return { services, service, told, holdings };
}

describe("a run that wants more of an executor which has lanes free", () => {
  it("asks for all of them by a new grant, where the rest of the slice is worth those that idle meanwhile", () => {
    const { services, service, told } = serving(2, 2);
    // Three lanes for 0.6 s are less than two for a second.
    services.enlarge("a", 3, 600);
    expect(told).toEqual([]);
    services.enlarge("a", 3, 60_000);
    service.ticket = null;
    expect([told, services.asks(service, REQUESTS), services.asks(service, REQUESTS)]).toEqual([["drain"], 5, 5]);
  });

  it("does not where it was given less than it asked for, or nobody knows how long its units take", () => {
    const { services, told, service } = serving(3, REQUESTS);
    services.enlarge("a", 2, 60_000);
    services.put("b", { ...service, requests: 1, asked: 1 });
    services.enlarge("b", 1, 60_000);
    expect(told).toEqual([]);
  });

  it("asks for no more than others leave", () => {
    const { services, service } = serving(2, 2);
    services.enlarge("a", 3, 60_000);
    service.ticket = null;
    services.put("b", { requests: 2, asked: 2, streams: 1, yielding: false, enlarging: false, ticket: null });
    expect(services.asks(service, REQUESTS)).toBe(3);
  });
});

describe("an executor that makes room for a run that has nothing", () => {
  it("keeps what is not free yet once none has, and says nothing where it gives nothing", () => {
    const { services, told, holdings } = serving(5, REQUESTS);
    services.keepRest();
    expect(told).toEqual([]);
    holdings.isFalling = true;
    services.keepRest();
    expect(told).toEqual(["keep"]);
  });
});
