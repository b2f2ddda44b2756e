# Coroutines, in the cell and in the function.
# %%
import asyncio

await asyncio.sleep(0)
# %% frequencies
async def slowly(dim):
    await asyncio.sleep(0)
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)


def frequencies(dim):
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(slowly(dim))
    finally:
        loop.close()
