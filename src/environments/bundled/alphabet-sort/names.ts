import { mix, mixSeed } from "../../../mix.ts";

/** Common given and family names; changing the lists or their order changes every generated data set, and so the environment's version. */
const FIRST = (
  "Ada Alan Amara Anders Anita Astrid Bela Boris Carla Chen Clara Daniel Diego Dina Edith Elias Elena Emil Erik Esther Fatima Felix Fiona Frida Gita " +
  "Grace Hana Hassan Helga Hugo Ida Ines Ivan Jamal Joana Jonas Julia Kai Karin Kenji Lars Laila Leon Lina Lucia Magnus Maria Marta Mina Nadia Nils Nora " +
  "Olga Omar Oscar Paula Pedro Priya Quentin Rafael Rosa Ruben Sara Sofia Stefan Tara Theo Tomas Ulrika Vera Victor Wanda Xavier Yara Yusuf Zara"
).split(" ");
const LAST = (
  "Abbott Adler Ahmed Alvarez Bauer Becker Berg Bianchi Brandt Carter Castro Cohen Cruz Dahl Diaz Dubois Eklund Evans Farkas Fischer Fontana Fuchs Garcia " +
  "Gomez Gruber Haas Hansen Hoffman Ibrahim Ivanov Jensen Johansson Kaya Keller Khan Klein Kovacs Larsen Lehmann Lindgren Lopez Maier Martin Mendez Moreau " +
  "Nakamura Novak Olsen Ortiz Park Patel Petrov Quist Ramos Reyes Rossi Santos Sato Schmidt Silva Singh Tanaka Torres Urban Vargas Vogel Wagner Weber Wolf " +
  "Xu Yamada Young Zhang Zimmer"
).split(" ");

export interface PersonName {
  readonly first: string;
  readonly last: string;
}

/** `count` names of list `index` of a seed, no first name and no last name twice; decided by these three numbers alone. */
export function names(seed: number, index: number, count: number): readonly PersonName[] {
  let state = mix(mixSeed(seed) ^ index);
  const pick = (from: string[]): string => {
    state = mix(state);
    return from.splice(state % from.length, 1)[0] ?? "";
  };
  const [first, last] = [[...FIRST], [...LAST]];
  return Array.from({ length: count }, () => ({ first: pick(first), last: pick(last) }));
}

export const MOST_NAMES = Math.min(FIRST.length, LAST.length);
