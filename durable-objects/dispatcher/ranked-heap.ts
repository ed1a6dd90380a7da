/** Whether `a` comes before `b`. A strict order: of two different members one comes first. */
export type Before<T> = (a: T, b: T) => boolean;

/**
 * A binary heap that knows where each member stands, so that one whose rank changes, or that leaves, costs log n and no search.
 * A member's rank may change only between a call and the next `put` of that member.
 */
export class RankedHeap<T> {
  readonly #before: Before<T>;
  readonly #members: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(before: Before<T>) {
    this.#before = before;
  }

  get size(): number {
    return this.#members.length;
  }

  get first(): T | undefined {
    return this.#members[0];
  }

  /** Adds the member, or moves it to where its rank now is. */
  put(member: T): void {
    const place = this.#places.get(member) ?? this.#members.length;
    this.#down(member, this.#up(member, place));
  }

  remove(member: T): void {
    const place = this.#places.get(member);
    if (place === undefined) return;
    this.#places.delete(member);
    const last = this.#members.pop();
    if (last === undefined || place === this.#members.length) return;
    this.#down(last, this.#up(last, place));
  }

  /** All members in order, lazily: the first k cost about k log k, however many there are. Ends at the next change. */
  *inOrder(): Iterable<T> {
    const at = (place: number): T => this.#members[place] as T;
    const frontier = new RankedHeap<number>((a, b) => this.#before(at(a), at(b)));
    if (this.size > 0) frontier.put(0);
    for (let place = frontier.first; place !== undefined; place = frontier.first) {
      frontier.remove(place);
      for (const child of [2 * place + 1, 2 * place + 2]) if (child < this.size) frontier.put(child);
      yield at(place);
    }
  }

  #set(member: T, place: number): void {
    this.#members[place] = member;
    this.#places.set(member, place);
  }

  #up(member: T, from: number): number {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#members[parent] as T;
      if (!this.#before(member, above)) break;
      this.#set(above, place);
      place = parent;
    }
    this.#set(member, place);
    return place;
  }

  #down(member: T, from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.size) break;
      const right = left + 1;
      const child = right < this.size && this.#before(this.#members[right] as T, this.#members[left] as T) ? right : left;
      const below = this.#members[child] as T;
      if (!this.#before(below, member)) break;
      this.#set(below, place);
      place = child;
    }
    this.#set(member, place);
  }
}
