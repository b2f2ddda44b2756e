from posenc_lib.experiments.lab import main

if __name__ == "__main__":
    main()
