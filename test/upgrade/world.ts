// What the definitions need from the process that runs them: notice of each function that begins, and a way to hold it.

/** A body, or a function beside one, of an execution. */
export interface Place {
  readonly executionId: string;
  readonly stepPath: string;
}

export interface World {
  /** A body or a function beside one begins; it does its work when this resolves. */
  enter(place: Place): Promise<void>;
  /** A model was asked this; it replies when this resolves. */
  asked(question: string): Promise<void>;
}

/** A world in which everything begins and nothing ever ends: for looking at a database without changing it. */
export const frozenWorld: World = {
  enter: () => new Promise(() => undefined),
  asked: () => new Promise(() => undefined),
};

/** Makes a body of a function: it tells the world first. */
export function bodiesOf(world: World) {
  return <Context extends Place, Output>(run: (context: Context) => Output) =>
    async (context: Context): Promise<Awaited<Output>> => {
      await world.enter(context);
      return await run(context);
    };
}

export type Body = ReturnType<typeof bodiesOf>;
