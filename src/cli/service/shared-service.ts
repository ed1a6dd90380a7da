import type { Service } from "./service.ts";

/** The service that several runs of one command work with. When it ends below them, the first that notices opens another for all. */
export class SharedService {
  #current: Service;
  readonly #open: () => Promise<Service>;
  #opening: Promise<Service> | null = null;

  constructor(service: Service, open: () => Promise<Service>) {
    this.#current = service;
    this.#open = open;
  }

  get current(): Service {
    return this.#current;
  }

  /** Another service than `lost`, which is closed. */
  async instead(lost: Service): Promise<Service> {
    if (this.#opening === null && this.#current !== lost) return this.#current;
    this.#opening ??= this.#reopen(lost).finally(() => {
      this.#opening = null;
    });
    return await this.#opening;
  }

  async #reopen(lost: Service): Promise<Service> {
    await lost.close();
    this.#current = await this.#open();
    return this.#current;
  }
}
