/**
 * Gives every contender its turn, round after round (A B C A B C …), so that all of them meet the same moods of the
 * machine. One more round before the first warms everyone up and is not kept.
 *
 * @returns the results by contender, one per round
 */
export async function alternate<Name extends string, Result>(
  contenders: Readonly<Record<Name, (seconds: number) => Promise<Result>>>,
  options: { readonly rounds: number; readonly seconds: number; onTurn?(name: Name, round: number): void },
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round <= options.rounds; round++) {
    for (const name of names) {
      options.onTurn?.(name, round);
      const result = await contenders[name](options.seconds);
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}
