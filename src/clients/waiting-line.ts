/** One who waits; a node of a doubly linked list, so that leaving the line costs the same wherever one stands. */
interface Waiter<T> {
  readonly value: T;
  readonly admit: () => void;
  previous: Waiter<T> | null;
  next: Waiter<T> | null;
}

/** Those who wait for something, in the order in which they came, each with a value of its own. */
export class WaitingLine<T = void> {
  #length = 0;
  #first: Waiter<T> | null = null;
  #last: Waiter<T> | null = null;

  get length(): number {
    return this.#length;
  }

  /** Of the one who is next; only where somebody waits. */
  get firstValue(): T | undefined {
    return this.#first?.value;
  }

  /** `admit` is called when it is its turn, unless the function that this gives back was called before. */
  add(value: T, admit: () => void): () => void {
    const waiter: Waiter<T> = { value, admit, previous: this.#last, next: null };
    if (this.#last === null) this.#first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
    this.#length++;
    return () => this.#remove(waiter);
  }

  /** Resolves when it is its turn; rejects with the signal's reason when that comes first. */
  wait(value: T, signal?: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        remove();
        reject(signal?.reason);
      };
      const remove = this.add(value, () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      });
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  admitFirst(): void {
    const waiter = this.#first;
    if (waiter === null) return;
    this.#remove(waiter);
    waiter.admit();
  }

  /** Only of one who waits: whoever was admitted, or gave up, is not in the line. */
  #remove(waiter: Waiter<T>): void {
    if (waiter.previous === null && this.#first !== waiter) return;
    if (waiter.previous === null) this.#first = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === null) this.#last = waiter.previous;
    else waiter.next.previous = waiter.previous;
    waiter.previous = null;
    waiter.next = null;
    this.#length--;
  }
}
