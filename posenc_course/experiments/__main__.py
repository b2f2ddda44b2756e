from posenc_course.experiments.lab import main

if __name__ == "__main__":
    main()
