// Sizes of model and training: those of posenc_course/experiments/train_live.py.
export const [LETTERS, DIM, HEADS, LAYERS, LENGTH] = [64, 32, 2, 2, 32];
export const [ROWS, STEPS, RATE] = [32, 400, 0.04];
/** What the reader may ask for instead of STEPS. */
export const OTHER_STEPS = [100, 200, 400, 800];
export const HEAD_DIM = DIM / HEADS;
export const EPSILON = 1e-6;
/** Share of letters right, at the trained length, from which on a model may be asked about longer texts. */
export const LEAST = 0.99;
export const TEST_TEXTS = 64;
export const TEST_LENGTHS = Array.from({ length: 16 }, (_, i) => 16 * (i + 1));
