# Names of built-ins and of common modules, used for something else.
# %%
list = [1, 2, 3]
sum = max = 0
json = os = sys = input = type = "mine"
print(list, sum)
