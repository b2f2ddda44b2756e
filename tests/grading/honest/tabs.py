# Tabs for indentation, trailing blanks, odd layout.
# %% smallest_dim
def smallest_dim( length ,dims ):   
	for dim in dims :	
		if 2*math.pi*10000.**((dim-2)/dim)>=length : return dim ;
	else :
		return 0
